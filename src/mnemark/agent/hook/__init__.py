"""Hooks of agents: briefing, recall and capture."""
