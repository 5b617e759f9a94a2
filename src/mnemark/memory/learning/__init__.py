"""Learn facts from turns, by rule and by model."""
