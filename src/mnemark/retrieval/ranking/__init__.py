"""Score, fuse and rerank candidates."""
