"""Files of a crawl directory: locks, snapshots, and errors in words."""
