"""Orders, given to a crawl and asked about; nothing is printed here."""
