"""Verbs that ask a crawl."""
