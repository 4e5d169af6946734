"""Full-text search over the pages of a crawl."""
