"""The only SQL: manifest, passages, full text, vectors, sync."""
