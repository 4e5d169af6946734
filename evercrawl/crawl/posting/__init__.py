"""Messages between the partitions of a crawl, and what they share."""
