"""The interface of every policy; `abilities` holds the optional interfaces."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats

InvalidatedBy: TypeAlias = Literal["nothing", "plans", "batches", "everything"]


class Context(NamedTuple):
    """The values that apply to all pages at the instant of a choice.

    Attributes
    ----------
    now
        The instant, in seconds since the epoch.
    known
        Number of pages that share the budget: visited pages that wait for a refresh; 0 if unknown.
    deaths_per_s
        Fraction of pages that vanish per second, as the crawl estimates it; 0 without an estimate.
    in_bytes
        Whether the budget is in bytes instead of fetches.
    """

    now: float
    known: int = 0
    deaths_per_s: float = 0.0
    in_bytes: bool = False


@dataclass(slots=True)
class Surroundings:
    """Provides the context of any instant; the estimator of `deaths_per_s` writes its estimate here."""

    in_bytes: bool = False
    deaths_per_s: float = 0.0

    def __call__(self, now: float, known: int = 0) -> Context:
        """Return the context at an instant."""
        return Context(now, known, self.deaths_per_s, self.in_bytes)


class Policy(ABC):
    """An order in which to visit the pages of hosts that are ready for a request."""

    in_order: ClassVar[bool] = False
    """Whether, on a host, new pages come in the order of discovery, and visited pages strictly by `due`, which does not
    change between two visits. If so, only the first page of each kind is valued. Otherwise several pages are valued,
    and new pages are ranked again at intervals. If the crawl weighs pages and the policy `weighs`, new pages of a host
    are valued in any case."""

    weighs: ClassVar[bool] = True
    """Whether the policy uses the worth of pages: their importance or cash, or `Pages.weight_ratio`. A weight has no
    effect on a policy that by definition ignores it, and the user is warned of this."""

    reviews: ClassVar[int] = 1
    """Number of new pages that are ranked again for each chosen page, if new pages are ranked at all."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """Optional columns to gather for this policy."""

    invalidated_by: ClassVar[InvalidatedBy] = "everything"
    """What changes the order in which pages are visited again, on the time scale of a few visits: `nothing`, if the
    page that has waited longest is always next; the policy's own `plans`; `batches` of changes, besides slowly moving
    prices; or anything that visits find. In the meantime a replay need not query the policy again."""

    clairvoyant: ClassVar[bool] = False
    """Whether `Pages.neg_log_unchanged` tells the policy which copies are stale (infinity) and which are not (0). Such
    a policy is a reference for recorded or simulated histories; no real crawl can follow it."""

    awaits: ClassVar[bool] = False
    """Whether the policy uses the probability that a page found gone is back, `Pages.comeback_scale_s`. Otherwise the
    importance and cash of such pages are halved for each consecutive failed visit."""

    min_value: float = -math.inf
    """Minimum `value` of a visit. Pages below it are not visited for now, even if no other page is due. Policies
    that set a minimum were published with it. They return from `due` the instant at which a page reaches the minimum,
    if they know that instant. If no page reaches it, the frontier looks again at that instant, or after a second."""

    freshness_check: str = "get"
    """How the crawl checks whether a copy is current: `get`, with a request that returns the page if it changed; or
    `head`, with a HEAD request first."""

    @abstractmethod
    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the value of a visit now, shape (n,), finite; the page with the highest value is visited first."""

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return the positions of visited pages in their host's queue, shape (n,): smaller is sooner.

        The position is an instant (s since the epoch) if the policy knows one; this instant is shown to users. Infinity
        means that the page need not be visited again. The default is the negated value, which is not shown.
        """
        return -self.value(pages, context)
