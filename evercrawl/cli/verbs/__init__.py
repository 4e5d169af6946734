"""The verbs, one per file."""
