"""Pages for people, rendered by the daemon: memory text is plain text, and all works without script."""
