"""Made-up worlds in which one crawl has several partitions, that write to each other over a bad network."""
