"""Full-text search: the index and its ranking."""
