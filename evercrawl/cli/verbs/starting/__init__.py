"""Verbs that start a crawl."""
