"""Quote recalled text in prompts safely, and detect prompt injection and memory poisoning."""
