"""The loop that holds everything together, and what can be asked of a crawl directory. Start reading at loop.py."""

from evercrawl.crawl.session import crawl

__all__ = ["crawl"]
