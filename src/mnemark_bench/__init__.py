"""Measurements: retrieval, speed and tokens, each beside a baseline run in the same command."""
