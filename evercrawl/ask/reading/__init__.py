"""What pages say, for people and for models: main content, texts of PDFs, and chunks for retrieval."""
