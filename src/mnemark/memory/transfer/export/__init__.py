"""Export a memory as a folder for people: a vault of Obsidian, Markdown, or an archive of talks in HTML."""
