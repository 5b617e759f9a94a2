"""Check, repair, upgrade and count a workspace."""
