"""The Python interface of `import evercrawl`: live crawls, and the queries of `evercrawl.ask` as methods."""

__all__: list[str] = []
