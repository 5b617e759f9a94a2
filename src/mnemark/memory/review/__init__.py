"""Facts that wait for a person, and explanations."""
