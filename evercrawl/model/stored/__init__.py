"""Reading back a stored crawl."""
