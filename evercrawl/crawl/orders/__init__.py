"""Orders of people: read while the crawl runs, obeyed once each, and answered."""
