"""The commands that show faces: `mnemark web` and `mnemark tui`."""
