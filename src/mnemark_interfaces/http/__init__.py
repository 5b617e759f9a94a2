"""The daemon: one warm process for all agents and workspaces of a user, asked over HTTP on loopback."""
