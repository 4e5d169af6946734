"""The verbs that steer a crawl, one per file, and their shared code."""
