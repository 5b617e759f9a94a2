"""Segment, normalize and count words."""
