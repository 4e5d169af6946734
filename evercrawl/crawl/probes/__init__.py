"""Pages drawn at random, and paths that cannot exist."""
