"""Planning: the freshness that a crawl budget brings."""
