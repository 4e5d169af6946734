"""Queries about a crawl; all of them only read."""
