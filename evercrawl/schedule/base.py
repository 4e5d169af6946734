"""What every policy promises; what some can do besides is in `abilities`."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats

InvalidatedBy: TypeAlias = Literal["nothing", "plans", "batches", "everything"]


class Context(NamedTuple):
    """What holds for all pages at the instant of a choice.

    Attributes
    ----------
    now
        The instant, in seconds since the epoch.
    known
        How many pages share the budget: those that were visited and wait for their refresh; 0 where nobody says.
    deaths_per_s
        Part of the pages that vanish in a second, as the crawl estimates it; 0 where nobody does.
    in_bytes
        Whether the budget is of bytes, not of fetches.
    """

    now: float
    known: int = 0
    deaths_per_s: float = 0.0
    in_bytes: bool = False


@dataclass(slots=True)
class Surroundings:
    """Gives the context of any instant; whoever estimates `deaths_per_s` writes it here."""

    in_bytes: bool = False
    deaths_per_s: float = 0.0

    def __call__(self, now: float, known: int = 0) -> Context:
        """Return what holds at an instant."""
        return Context(now, known, self.deaths_per_s, self.in_bytes)


class Policy(ABC):
    """An order in which to visit the pages whose hosts have rested."""

    in_order: ClassVar[bool] = False
    """Whether, on a host, new pages come as they were found, and visited ones strictly by `due`, which never changes
    between two visits: then only the first of each is valued. Otherwise several are, and new ones are ranked anew now
    and then. Where the crawl weighs pages, and the policy `weighs`, new pages of a host are valued all the same."""

    weighs: ClassVar[bool] = True
    """Whether it uses what pages are worth: their importance or cash, or `Pages.weight_ratio`. A weight changes nothing
    for a policy that by its definition does not, and whoever crawls by it is told so."""

    reviews: ClassVar[int] = 1
    """How many new pages are ranked anew for each page that is chosen, where they are ranked at all."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """Columns that are gathered for this policy only."""

    invalidated_by: ClassVar[InvalidatedBy] = "everything"
    """What changes the order in which it visits pages again, within the time that a few visits take: `nothing`, where
    the page comes next that has waited longest; its own `plans`; `batches` of changes, beside prices that move slowly;
    or anything that visits find. A replay need not ask it again meanwhile."""

    clairvoyant: ClassVar[bool] = False
    """Whether `Pages.neg_log_unchanged` says which copies are stale (infinity) and which are not (0): a yardstick for
    recorded or made-up histories, which no crawl can follow."""

    awaits: ClassVar[bool] = False
    """Whether it uses how likely a page that was found gone is to be back, `Pages.comeback_scale_s`; otherwise such
    pages come with less importance and cash, half as much for each failed visit in a row."""

    min_value: float = -math.inf
    """Pages of which a visit is worth less, by `value`, are left alone for now, even where nothing else is to be done.
    The policies that do so were published so; they say in `due` from which instant on a page is worth as much, where
    they know it. When nothing is, the frontier looks again at that instant, or after a second."""

    freshness_check: str = "get"
    """How the crawl finds out whether a copy is still good: `get`, by a request that brings the page if it is not; or
    `head`, by asking for the page's head first."""

    @abstractmethod
    def value(self, pages: Pages, context: Context) -> Floats:
        """Return what a visit now is worth, shape (n,), finite; the highest is visited first."""

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return for pages that were visited where each stands in its host's queue, shape (n,): smaller is sooner.

        An instant (s since the epoch), where the policy knows one, which is what people are told who ask; infinity for
        what need not be visited again. By default the value, upside down, of which nobody is told.
        """
        return -self.value(pages, context)
