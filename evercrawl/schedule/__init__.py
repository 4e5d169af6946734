"""Scheduling: the policies that order visits, one per file or folder, and the frontier that offers them pages."""

from typing import TYPE_CHECKING, Any

from evercrawl.schedule import policies
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Facts, Pages, Visits

if TYPE_CHECKING:
    from evercrawl.schedule.policies.price.price import Price

__all__ = ["Context", "Facts", "Pages", "Policy", "Price", "Visits", "policies"]


def __getattr__(name: str) -> Any:
    """Import the default policy when it is first used, because most commands need no policy."""
    if name != "Price":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from evercrawl.schedule.policies.price.price import Price

    return Price
