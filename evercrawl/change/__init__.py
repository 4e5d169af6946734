"""How often a page changes, learned from the visits."""

from evercrawl.change.prior import SitePriors

__all__ = ["SitePriors"]
