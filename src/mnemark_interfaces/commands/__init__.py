"""Implement the commands, grouped in modules by topic."""
