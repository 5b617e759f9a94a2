"""The stages of a search, each a function that returns its part."""
