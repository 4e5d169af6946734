"""Questions about a crawl: each only reads."""
