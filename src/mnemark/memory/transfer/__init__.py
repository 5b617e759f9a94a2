"""Back up, restore, export and import."""
