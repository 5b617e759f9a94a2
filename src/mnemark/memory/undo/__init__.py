"""Take changes back."""
