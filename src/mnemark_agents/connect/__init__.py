"""Connect mnemark to agents' own settings."""
