"""What is kept of what the crawl does, and how it is found out."""
