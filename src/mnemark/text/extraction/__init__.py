"""Extract facts from sentences by rule, in English and Chinese."""
