"""The memory that a crawl takes: its limit, its measurement, and its return to the system."""
