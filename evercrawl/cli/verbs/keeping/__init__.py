"""Verbs that look after the directory of a crawl."""
