"""Documents other than web pages: PDFs and office files, read by optional libraries."""
