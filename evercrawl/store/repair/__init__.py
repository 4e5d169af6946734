"""What mends a damaged crawl directory: one kind of file a module; `evercrawl.crawl.repairing` puts them in order."""
