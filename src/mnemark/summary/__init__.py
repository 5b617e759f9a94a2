"""Summarize turns, and shorten files, by rule."""
