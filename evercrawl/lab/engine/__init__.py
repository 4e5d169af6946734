"""Compiled OPIC and push on link graphs."""
