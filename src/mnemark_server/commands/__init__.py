"""The commands of a server."""
