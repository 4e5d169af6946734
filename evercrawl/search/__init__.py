"""Words to pages: the index and its ranking."""
