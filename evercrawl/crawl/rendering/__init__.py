"""Pages rendered in a browser, whose requests all go through the crawl's own fetch."""
