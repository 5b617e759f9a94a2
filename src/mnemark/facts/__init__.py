"""Parse, store and version facts in files and the journal, without the index."""
