"""The web server of a crawl in several partitions."""
