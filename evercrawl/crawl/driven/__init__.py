"""A crawl whose pages somebody else fetches: it says which comes next, and learns from what came."""

__all__: list[str] = []
