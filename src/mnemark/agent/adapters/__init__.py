"""Adapters for agents and frameworks; each imports its host only where it is used."""
