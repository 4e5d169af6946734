"""Letters to the other partitions of a crawl, and what all of them share."""
