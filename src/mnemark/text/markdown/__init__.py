"""Read and edit Markdown by lines and blocks."""
