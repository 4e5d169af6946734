"""Verbs that serve a crawl to others, and record what they do."""
