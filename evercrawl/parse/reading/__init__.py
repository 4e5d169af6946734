"""What a person would read of a page: its main content, as Markdown, HTML or chunks."""
