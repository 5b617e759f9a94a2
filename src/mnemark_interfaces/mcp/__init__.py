"""The Model Context Protocol: a light front on stdin and stdout, and the official SDK behind HTTP."""
