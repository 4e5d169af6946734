"""How much a page matters, learned from the links of the pages that are fetched."""

from evercrawl.importance.base import Importance

__all__ = ["Importance"]
