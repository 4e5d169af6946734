"""What leaves a crawl directory for good: what people have forgotten, and versions that are kept no longer."""
