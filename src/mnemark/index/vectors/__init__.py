"""Store and search vectors."""
