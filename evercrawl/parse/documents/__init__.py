"""Documents that are no web pages: PDFs and office documents, read by libraries that come with extras."""
