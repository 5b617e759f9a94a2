"""The trained reader of messages: tokens, features, network, and what it reads."""
