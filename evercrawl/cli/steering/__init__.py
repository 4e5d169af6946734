"""The verbs that steer a crawl, one a file, and what they share."""
