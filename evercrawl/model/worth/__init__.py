"""What a page is worth to its readers."""
