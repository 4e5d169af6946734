"""What other programs gathered becomes events of a crawl: contents, histories and URLs."""
