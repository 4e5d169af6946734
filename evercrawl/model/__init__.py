"""What the crawl believes at one instant, by slot."""
