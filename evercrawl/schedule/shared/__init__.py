"""Code shared by several policies."""
