"""Routes from a question to candidates: by words, by vectors, by facts."""
