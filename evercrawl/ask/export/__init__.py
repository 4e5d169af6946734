"""Export of a crawl's data as tables and as WACZ files."""
