"""Process text with pure functions: tokenization, passages, dates, facts, redaction, quoting."""
