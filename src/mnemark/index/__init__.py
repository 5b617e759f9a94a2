"""Store passages, full text and vectors in SQLite, and sync them with the files."""
