"""What may enter a crawl, and when a page may be asked for."""
