"""Say what memory holds and did in sentences for people, in English and Chinese."""
