"""The HTML pages for browsers, one per file."""
