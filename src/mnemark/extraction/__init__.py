"""Extract facts from turns by rules, in English and Chinese."""
