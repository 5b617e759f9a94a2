"""Score candidates for a query: lexical, dense, facts, QMD."""
