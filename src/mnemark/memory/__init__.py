"""`Memory` and `Session`: what an agent holds in its hands."""
