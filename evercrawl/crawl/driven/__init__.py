"""A crawl whose pages another program fetches: it chooses the next page, and learns from the answers."""

__all__: list[str] = []
