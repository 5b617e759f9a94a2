"""Fold the journal lines about facts into states: one reducer for each kind of line."""
