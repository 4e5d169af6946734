"""OPIC and push on webs of links alone, compiled."""
