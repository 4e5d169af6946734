"""Which page next: one policy a file, and the frontier that offers them pages."""

from evercrawl.schedule import policies
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Facts, Pages, Visits
from evercrawl.schedule.policies.price.price import Price

__all__ = ["Context", "Facts", "Pages", "Policy", "Price", "Visits", "policies"]
