"""Pages that are read in a browser: what it asks for passes the crawl's own fetch."""
