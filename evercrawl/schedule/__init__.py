"""Which page next: one policy a file, and the frontier that offers them pages."""

from evercrawl.schedule import policies
from evercrawl.schedule.base import Facts, Pages, Policy, Visits
from evercrawl.schedule.policies.price.price import Price

__all__ = ["Facts", "Pages", "Policy", "Price", "Visits", "policies"]
