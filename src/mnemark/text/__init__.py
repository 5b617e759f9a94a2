"""Strings in, values out: segmentation, passages, dates, quoting. No input or output."""
