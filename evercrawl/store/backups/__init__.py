"""Copies of a crawl directory that are made while the crawl runs, and what must hold before anything is copied."""
