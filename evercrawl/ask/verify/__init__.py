"""Whether a crawl directory is true to itself."""
