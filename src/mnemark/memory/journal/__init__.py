"""Readers of the journal: edits and sessions."""
