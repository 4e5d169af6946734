"""Several partitions of one crawl: which owns a host, and what they owe to each other."""
