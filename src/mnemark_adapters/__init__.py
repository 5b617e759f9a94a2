"""Adapters for agent frameworks, one module each."""
