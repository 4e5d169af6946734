"""The main content of a page, as Markdown, HTML or chunks."""
