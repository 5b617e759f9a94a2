"""Lists of what a workspace holds, a page at a time: for pages and panels that people look at."""
