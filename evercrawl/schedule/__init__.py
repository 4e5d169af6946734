"""Which page next: one policy a file, and the frontier that offers them pages."""

from evercrawl.schedule.base import Pages, Policy
from evercrawl.schedule.price import Price

__all__ = ["Pages", "Policy", "Price"]
