"""Reading of page content for people and models: main content, text of PDFs, and chunks for retrieval."""
