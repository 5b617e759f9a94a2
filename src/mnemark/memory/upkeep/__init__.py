"""Upkeep: a memory that is used for a year is smaller where things repeat and sharper where they matter.

Each step proposes edits of Markdown files and says why; `run` applies them through the ledger, so that each
is shown before, noted, completed after a kill, and taken back by one command.
"""
