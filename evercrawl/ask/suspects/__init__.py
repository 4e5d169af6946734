"""What looks like an attempt to mislead a crawl."""
