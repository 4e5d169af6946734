"""What every policy promises."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from evercrawl.types import Floats, Slots

Need: TypeAlias = Literal["in_links", "rank", "backlog"]
"""A column that costs memory and time for each page that is known, so that it is kept only where it is asked for."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Columns of the pages that a policy may choose among; row i is candidate i.

    Attributes
    ----------
    slot
        Discovery number: smaller was found earlier.
    visited_at
        Seconds since the epoch of the last visit, nan before the first.
    importance
        How much each matters (w), up to one factor that is common to all pages at all times.
    cash
        What a visit would move: the residual of push, the cash of AOPIC; may be negative. Like importance, it comes
        times the interest in the page, where the crawl has a focus or weighs discovery.
    shape, scale_s
        Posterior of the rate of change, Gamma(shape a, rate parameter b in seconds), the site's prior included.
    cost, cost_changed
        What a visit costs in any case, and what it costs in addition if the page has changed; in units of the budget
        (fetches, or bytes). A page never visited costs both.
    notice
        Evidence from outside that it changed since the last visit (a sitemap's date): -ln of the probability that it
        did not; 0 for none.
    in_links
        How many of the pages that were read link to each, by their links as they were last read. This and what follows
        is None unless the policy says that it `needs` it.
    rank
        PageRank on the known graph, up to one factor; roughly, of what was found since it was last solved.
    backlog
        How many pages of the page's site were never read.
    """

    slot: Slots
    visited_at: Floats
    importance: Floats
    cash: Floats
    shape: Floats
    scale_s: Floats
    cost: Floats
    cost_changed: Floats
    notice: Floats
    in_links: Floats | None = None
    rank: Floats | None = None
    backlog: Floats | None = None

    def part(self, first: int, last: int) -> Pages:
        """Return the candidates from `first` up to, and not including, `last`."""
        columns = (getattr(self, name) for name in _COLUMNS)
        return Pages(*(None if column is None else column[first:last] for column in columns))  # type: ignore[arg-type]


_COLUMNS: Final = tuple(column.name for column in fields(Pages))


class Policy(ABC):
    """An order in which to visit the pages whose hosts have rested."""

    in_order: ClassVar[bool] = False
    """Whether, on a host, new pages come as they were found, and visited ones strictly by `due`, which never changes
    between two visits: then only the first of each is valued. Otherwise several are, and new ones are ranked anew now
    and then."""

    reviews: ClassVar[int] = 1
    """How many new pages are ranked anew for each page that is chosen, where they are ranked at all."""

    needs: ClassVar[frozenset[Need]] = frozenset()
    """Columns that are gathered for this policy only."""

    @abstractmethod
    def value(self, pages: Pages, now: float) -> Floats:
        """Return what a visit at `now` is worth, shape (n,), finite; the highest is visited first."""

    def due(self, pages: Pages, now: float) -> Floats:
        """Return for pages that were visited where each stands in its host's queue, shape (n,): smaller is sooner.

        An instant (s since the epoch), where the policy knows one; infinity for what need not be visited again. By
        default the value, upside down.
        """
        return -self.value(pages, now)

    def chosen(self, values: Floats, now: float, known: int) -> None:
        """Take note of the values of the pages that are being visited, in order; most policies have no use for it.

        Parameters
        ----------
        values
            As `value` gave them, shape (n,).
        now
            The instant, in seconds since the epoch.
        known
            How many pages share the budget: those that were visited and wait for their refresh.
        """
        return

    @property
    def usual(self) -> float:
        """What a visit has been worth of late, by `value`; nan where the policy does not learn it."""
        return math.nan

    def notes(self) -> dict[str, float]:
        """Return numbers that whoever looks at the crawl from outside likes to know; by default none."""
        return {}

    def resume(self, notes: dict[str, float]) -> None:
        """Go on from the notes of an earlier run, of this policy or of another; by default from nothing."""
        return
