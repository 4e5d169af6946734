"""What `import evercrawl` offers: the questions of `evercrawl.ask` about a crawl directory, as methods."""

__all__: list[str] = []
