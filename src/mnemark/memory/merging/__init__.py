"""Merge the memories of two machines, and the copies and marks that programs for syncing leave."""
