"""What other programs export, read for `mnemark import`."""
