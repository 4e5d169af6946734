"""Detection of attempts to mislead a crawl."""
