"""Answer the hooks of agents: briefing, recall and capture."""
