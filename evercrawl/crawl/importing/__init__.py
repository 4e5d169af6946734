"""Import of data that other programs gathered: contents, histories and URLs become events of a crawl."""
