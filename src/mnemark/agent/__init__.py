"""Hooks and adapters for agents."""
