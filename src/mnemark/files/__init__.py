"""The only writer of Markdown and JSONL: workspace, sessions, journal, shared files, watching."""
