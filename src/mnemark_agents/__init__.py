"""Integrate with agents: hooks, agents' settings, the daemon's client, listeners in a host's process."""
