"""Consolidate memory while nobody waits: duplicates, decay, archive, monthly notes."""
