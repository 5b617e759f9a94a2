"""Assemble prompts under a budget."""
