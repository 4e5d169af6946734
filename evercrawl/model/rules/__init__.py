"""Rules of admission to a crawl, and of when a page may be requested."""
