"""Redact secrets in texts."""
