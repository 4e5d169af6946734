"""Second copies of partitions: where they are, who writes them, and how a lost partition is restored."""
