"""What every policy promises."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.schedule.formulas.index import survival

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evercrawl.types import Floats, Ints, Keys, Slots

    Flags: TypeAlias = NDArray[np.bool_]

InvalidatedBy: TypeAlias = Literal["nothing", "plans", "batches", "everything"]

Need: TypeAlias = Literal[
    "in_links", "rank", "backlog", "site", "retrieved", "clicked", "facts", "host", "host_backlog"
]
"""A column that costs memory and time for each page that is known, so that it is kept only where it is asked for."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Columns of the pages that a policy may choose among; row i is candidate i.

    Attributes
    ----------
    slot
        Discovery number: smaller was found earlier.
    visited_at
        Seconds since the epoch of the last visit that told how the page is, be it gone, nan before the first. A visit
        that came to nothing does not count, where the content was seen before.
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
    neg_log_unchanged
        Evidence from outside that it changed since the last visit (a sitemap's date): -ln of the probability that it
        did not; 0 for none.
    in_links
        How many of the pages that were read link to each, by their links as they were last read. This and what follows
        is None unless the policy says that it `needs` it.
    rank
        PageRank on the known graph, up to one factor; roughly, of what was found since it was last solved.
    backlog
        How many pages of the page's site were never read.
    site
        Number of the page's site.
    retrieved, clicked
        In how many answers to searches each was shown, and how often it was followed from there.
    facts
        What the page and its URL are like; see `Facts`.
    host
        Number of the page's host; a site may have many.
    host_backlog
        How many pages of the page's host were never read.
    announced_share
        Which part of its changes the page's site announces (rho): of a page of which nothing is said, only the others
        are to be feared. None where no site is known to announce any.
    found_at
        About when each page was found that was never visited, in seconds since the epoch; nan of others. None where
        nobody knows, or all were visited.
    host_price_ratio
        How many times the crawl's price a unit costs on the page's host: more where the host allows fewer visits than
        would be worth it, less where it has nothing that is. None where hosts are not told apart.
    weight_ratio
        How many times its importance by links each is worth, where the crawl weighs pages by something else (`weight`);
        None where it does not. Importance and cash are times that already. So a policy that was published without a
        weight can leave things as published unless one is asked for.
    comeback_scale_s
        Of pages whose last visit found them gone, how slowly they are thought to come back, in seconds: within t of
        that visit with probability 1 - (1 + t / comeback_scale_s)^-a (see `change.comebacks`); 0 of others. None where
        none was found gone, or the policy does not use it (`Policy.awaits`).
    """

    slot: Slots
    visited_at: Floats
    importance: Floats
    cash: Floats
    shape: Floats
    scale_s: Floats
    cost: Floats
    cost_changed: Floats
    neg_log_unchanged: Floats
    in_links: Floats | None = None
    rank: Floats | None = None
    backlog: Floats | None = None
    site: Slots | None = None
    retrieved: Floats | None = None
    clicked: Floats | None = None
    facts: Facts | None = None
    host: Slots | None = None
    host_backlog: Floats | None = None
    announced_share: Floats | None = None
    found_at: Floats | None = None
    host_price_ratio: Floats | None = None
    weight_ratio: Floats | None = None
    comeback_scale_s: Floats | None = None

    def part(self, first: int, last: int) -> Pages:
        """Return the candidates from `first` up to, and not including, `last`."""
        return self.take(slice(first, last))

    def take(self, rows: slice | NDArray[Any]) -> Pages:
        """Return some of the candidates: a slice, row numbers, or a mask of shape (n,)."""
        return Pages(*_taken(_of_pages(self), rows))


@dataclass(frozen=True, slots=True)
class Facts:
    """What pages and their URLs are like; row i is that of candidate i, zeros where nothing is known.

    Attributes
    ----------
    depth
        Links followed from a seed to find the page.
    url_bytes, dynamic
        Length of the URL; 1.0 where its look says that a program makes the page on demand, else 0.0.
    anchor_bytes
        Of the words in links to the page that are known.
    index_bytes, abstract_bytes, text_bytes
        Of what the search index holds of the page, of what stands for it in a list of results, and of the page.
    similarity
        How like the page is to what people ask for, from 0 to 1.
    """

    depth: Floats
    url_bytes: Floats
    dynamic: Floats
    anchor_bytes: Floats
    index_bytes: Floats
    abstract_bytes: Floats
    text_bytes: Floats
    similarity: Floats

    def take(self, rows: slice | NDArray[Any]) -> Facts:
        """Return some of the candidates, as `Pages.take` does."""
        return Facts(*(getattr(self, column.name)[rows] for column in fields(Facts)))


@dataclass(frozen=True, slots=True)
class Visits:
    """What came of visits, in the order in which they were made; row i is a visit.

    Attributes
    ----------
    slot, site
        Which page, and the number of its site.
    at, interval_s
        When, in seconds since the epoch; since the last visit that told anything of change, nan where there was none.
    read
        Whether the visit told anything: content came, or a word that it is unchanged.
    gone
        Whether the page was found gone (404, 410).
    changed
        Whether it was found changed; never at the first visit.
    age_s
        How long before the visit the page last changed, by a date that is believed; nan where none is. At the first
        visit that is how old what was found is.
    received
        Bytes that came over the wire.
    size
        Bytes of the text that the page shows; of its content where nobody knows those, as in histories and for visits
        of crawls that did not note them.
    links, relinked
        How many other pages it links to; whether they are others than before.
    found
        How many URLs became known by the visit.
    folder, name
        Keys of the page's folder (its host, and its path up to the last slash), and of its site and what follows that
        slash; 0 for pages that were read before, which keep them for ever. None where nobody is going to ask.
    predicted_fresh
        How likely the copy was said to be fresh, before the visit, by the policy itself; nan where nothing was said.
        None where nothing ever was.
    host
        Number of the page's host; None where nobody knows.
    """

    slot: Slots
    site: Slots
    at: Floats
    interval_s: Floats
    read: Flags
    gone: Flags
    changed: Flags
    age_s: Floats
    received: Floats
    size: Floats
    links: Ints
    relinked: Flags
    found: Ints
    folder: Keys | None = None
    name: Keys | None = None
    predicted_fresh: Floats | None = None
    host: Slots | None = None

    def __len__(self) -> int:
        """Return how many visits there are."""
        return len(self.slot)

    def take(self, rows: slice | NDArray[Any]) -> Visits:
        """Return some of the visits: a slice, row numbers, or a mask of shape (n,)."""
        return Visits(*_taken(_of_visits(self), rows))


def _taken(columns: tuple[Any, ...], rows: slice | NDArray[Any]) -> list[Any]:
    return [None if c is None else c.take(rows) if isinstance(c, Facts) else c[rows] for c in columns]


_of_pages: Final = attrgetter(*(column.name for column in fields(Pages)))
_of_visits: Final = attrgetter(*(column.name for column in fields(Visits)))


class Assessed(NamedTuple):
    """What a policy says of the pages among which a choice is made.

    Attributes
    ----------
    values
        Of the first pages, as `Policy.value` has them.
    due
        Of the last pages, as `Policy.due` has them; some may be among the first as well.
    fresh
        Of the first pages, as `Policy.fresh` has it; None where that is to be asked for what was chosen alone.
    """

    values: Floats
    due: Floats
    fresh: Floats | None = None


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

    needs: ClassVar[frozenset[Need]] = frozenset()
    """Columns that are gathered for this policy only."""

    learns: ClassVar[bool] = False
    """Whether it is told what comes of every visit, by `learn`: those of earlier runs first, from the journal."""

    counts_links: ClassVar[bool] = False
    """Whether it learns from what visits show of links and bytes: `received`, `size`, `links`, `relinked`, `found`.
    Whoever would have to look them up, as a replay does, tells them only then."""

    places: ClassVar[bool] = False
    """Whether it is told, of pages that were never read before, in which folder they are, and by which name."""

    plans: ClassVar[bool] = False
    """Whether it looks at all pages together from time to time, in `plan`."""

    keeps_notes: ClassVar[bool] = False
    """Whether what it notes, in `notes`, when it has planned must hold though the crawl is killed: the journal keeps it
    then, before the first visit by each plan, and not only snapshots do."""

    invalidated_by: ClassVar[InvalidatedBy] = "everything"
    """What changes the order in which it visits pages again, within the time that a few visits take: `nothing`, where
    the page comes next that has waited longest; its own `plans`; `batches` of changes, beside prices that move slowly;
    or anything that visits find. Whoever replays it need not ask it anew meanwhile for what nothing has swayed."""

    clairvoyant: ClassVar[bool] = False
    """Whether `Pages.neg_log_unchanged` says which copies are stale (infinity) and which are not (0): a yardstick for
    recorded or made-up histories, which no crawl can follow."""

    awaits: ClassVar[bool] = False
    """Whether it reckons itself with how likely a page that was found gone is to be back, by `Pages.comeback_scale_s`;
    otherwise such pages come with less importance and cash, half as much for each visit in a row that was in vain."""

    min_value: float = -math.inf
    """Pages of which a visit is worth less, by `value`, are left alone for now, even where nothing else is to be done.
    The policies that do so were published so; they say in `due` from which instant on a page is worth as much, where
    they know it. When nothing is, the frontier looks again at that instant, or after a second."""

    freshness_check: str = "get"
    """How the crawl finds out whether a copy is still good: `get`, by a request that brings the page if it is not; or
    `head`, by asking for the page's head first."""

    deaths_per_s: float = 0.0
    """Part of the pages that vanish in a second, as the crawl tells while it runs; 0 where nobody does."""

    @abstractmethod
    def value(self, pages: Pages, now: float) -> Floats:
        """Return what a visit at `now` is worth, shape (n,), finite; the highest is visited first."""

    def place(self, page: Pages, now: float) -> str:
        """Return in words where the only page there is stands, where its value is a place in an order, and no worth.

        By default "", as a value is a worth.
        """
        return ""

    def due(self, pages: Pages, now: float) -> Floats:
        """Return for pages that were visited where each stands in its host's queue, shape (n,): smaller is sooner.

        An instant (s since the epoch), where the policy knows one, which is what people are told who ask; infinity for
        what need not be visited again. By default the value, upside down, of which nobody is told.
        """
        return -self.value(pages, now)

    def assess(self, pages: Pages, now: float, valued: int, due_from: int) -> Assessed:
        """Return the value of the first `valued` pages, and when those from `due_from` on fall due: all of a choice.

        A policy that can say all at once more quickly does.
        """
        values = np.ascontiguousarray(self.value(pages, now)[:valued], np.float64)
        if due_from == len(pages.slot):
            return Assessed(values, np.zeros(0))
        return Assessed(values, np.ascontiguousarray(self.due(pages.part(due_from, len(pages.slot)), now), np.float64))

    def fresh(self, pages: Pages, now: float) -> Floats:
        """Return the probability that each page's copy is as the page is at `now`, shape (n,); nan without a visit.

        By default as the posterior of its rate, what was announced and the rate at which pages vanish have it. Where a
        policy believes something else of change, it says so here.
        """
        age_s = np.maximum(now - pages.visited_at, 0.0)
        doubt = pages.neg_log_unchanged + self.deaths_per_s * age_s
        found = survival(pages.shape, pages.scale_s, age_s) * np.exp(-doubt)
        if pages.announced_share is None:
            return found
        return found / survival(
            pages.shape, pages.scale_s, pages.announced_share * age_s
        )  # what would have been announced

    def learn(self, visits: Visits) -> None:
        """Take note of what came of visits, in order, where the policy `learns`; by default nothing.

        No page is there twice in one call. How visits are parted into calls makes no difference to what is learned.
        """
        return

    def plan(self, pages: Pages, unread: int, now: float) -> float:
        """Look at all pages together, where the policy `plans`; return the instant at which it wants to do so again.

        Parameters
        ----------
        pages
            Every page that was visited and waits for its refresh.
        unread
            How many wait that were never visited.
        now
            The instant, in seconds since the epoch.
        """
        return math.inf

    def wants_rescan(self, now: float) -> bool:
        """Return whether so much was learned since it last said so that all pages are to be looked at again.

        By default never: pages fall due when they were said to.
        """
        return False

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned from visits, as arrays that may be kept on disk; by default nothing.

        Who keeps nothing is told of all visits again when the crawl goes on.
        """
        return {}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` returned, in place of being told of those visits.

        Raises
        ------
        ValueError, KeyError
            It is not the state of this policy as it is now; then nothing was recalled.
        """
        raise ValueError(f"{type(self).__name__} keeps no state")

    def adjust(self, options: Mapping[str, float | str]) -> None:
        """Take other values for parameters of the constructor, while the crawl runs; by default none may change.

        Raises
        ------
        ConfigError
            Where one cannot be changed, or the value is none for it.
        """
        if options:
            raise ConfigError(f"{type(self).__name__} takes no other {', '.join(options)} while it runs; start again")

    def ineffective_option(self, *, in_bytes: bool) -> str:
        """Return which parameter changes nothing in this crawl, and why, as a sentence; "" by default: all are heeded.

        Whoever crawls by it is told so when a run begins, and when a plan has made it so.

        Parameters
        ----------
        in_bytes
            Whether the budget is of bytes, not of fetches.
        """
        return ""

    def tables(self, now: float) -> dict[str, dict[str, NDArray[Any]]]:
        """Return what the policy keeps, as tables for people: name -> column -> values, all columns of one length.

        A column called `slot` names pages. By default there are none.
        """
        return {}

    def chosen(self, values: Floats, now: float, known: int, new: int = 0) -> None:
        """Take note of the values of the pages that are being visited; most policies have no use for it.

        Pages that were put back, since something else had to come first, are not among them.

        Parameters
        ----------
        values
            As `value` gave them, shape (n,).
        now
            The instant, in seconds since the epoch.
        known
            How many pages share the budget: those that were visited and wait for their refresh.
        new
            How many of the pages were never visited before.
        """
        return

    @property
    def typical_value(self) -> float:
        """What a visit has been worth of late, by `value`; nan where the policy does not learn it."""
        return math.nan

    def notes(self) -> dict[str, float]:
        """Return numbers that whoever looks at the crawl from outside likes to know; by default none."""
        return {}

    def resume(self, notes: dict[str, float]) -> None:
        """Go on from the notes of an earlier run, of this policy or of another; by default from nothing."""
        return
