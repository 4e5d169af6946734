"""A small exact web to think with."""
