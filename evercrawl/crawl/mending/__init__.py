"""What is done with crawl directories that are damaged or of an older format."""
