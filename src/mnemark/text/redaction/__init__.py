"""Take secrets out of texts."""
