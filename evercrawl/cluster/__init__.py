"""One crawl in several partitions, each with a process of its own."""
