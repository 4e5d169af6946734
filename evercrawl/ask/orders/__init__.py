"""Orders to a crawl: giving them, and listing them with their results."""
