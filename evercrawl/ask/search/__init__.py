"""Pages by words."""
