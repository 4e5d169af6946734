"""Files of a crawl directory: reading, writing, locking, and readable errors."""
