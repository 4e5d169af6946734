"""Permanent removal from a crawl directory: pages that people have forgotten, and old versions."""
