"""Record, end, summarize and compact sessions."""
