"""What a crawl knows, as tables in files."""
