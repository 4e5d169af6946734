"""What policies are told: the columns of pages to choose among, and what came of visits."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Final

from numpy.typing import NDArray

from evercrawl.types import Flags, Floats, Ints, Keys, Slots

KIN_LEVELS: Final = 16
"""Beginnings of its path by which a page may belong to others, at most."""
ON_DEMAND: Final = {"on_demand": True}
"""Marks a column that costs memory and time for each page that is known: it is kept for policies that need it."""
USE_HALF_LIFE_S: Final = 30 * 86_400.0
"""What people did so long ago counts half as much as what they do now."""


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
        is None unless the policy `needs` it.
    rank
        PageRank on the known graph, up to one factor; roughly, of what was found since it was last solved.
    backlog
        How many pages of the page's site were never read.
    site
        Number of the page's site.
    retrieved, clicked
        In how many answers to searches each was shown of late, and how often it was followed from there, or would have
        been at the first place: what was done `USE_HALF_LIFE_S` ago counts half.
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
    row
        Number of each page among those that were ever visited, in the order of first visits, and more than any of one
        that was not: what is learned of visited pages is kept by it. None where pages are known by their slots alone.
    owed
        1 of pages that were never read and come before all others of their hosts now, which have had visits enough
        for all that is known of them; else 0. None where nobody counts.
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
    in_links: Floats | None = field(default=None, metadata=ON_DEMAND)
    rank: Floats | None = field(default=None, metadata=ON_DEMAND)
    backlog: Floats | None = field(default=None, metadata=ON_DEMAND)
    site: Slots | None = field(default=None, metadata=ON_DEMAND)
    retrieved: Floats | None = field(default=None, metadata=ON_DEMAND)
    clicked: Floats | None = field(default=None, metadata=ON_DEMAND)
    facts: Facts | None = field(default=None, metadata=ON_DEMAND)
    host: Slots | None = field(default=None, metadata=ON_DEMAND)
    host_backlog: Floats | None = field(default=None, metadata=ON_DEMAND)
    announced_share: Floats | None = None
    found_at: Floats | None = None
    host_price_ratio: Floats | None = None
    weight_ratio: Floats | None = None
    comeback_scale_s: Floats | None = None
    owed: Floats | None = None
    row: Slots | None = None

    @property
    def rows(self) -> Slots:
        """What learned tables know the pages by, shape (n,): `row`, or else `slot`."""
        return self.slot if self.row is None else self.row

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
    row
        Number of the page among those that were ever visited, as in `Pages`.
    fresh_by_time
        How likely the copy was to be fresh before the visit by the belief of its rate of change alone (`Pages.shape`,
        `scale_s`); nan where nobody tells. None where nobody ever does.
    digest
        32 bits of the digest of what the page is; 0 where the visit does not tell. None where nobody ever does.
    kin
        Keys of what the paths of pages that are alike may begin with, from short to long, shape (n, KIN_LEVELS); 0 for
        no more, and as of `name`. None where nobody is going to ask.
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
    row: Slots | None = None
    fresh_by_time: Floats | None = None
    digest: Slots | None = None
    kin: Keys | None = None

    @property
    def rows(self) -> Slots:
        """What learned tables know the pages by, shape (n,): `row`, or else `slot`."""
        return self.slot if self.row is None else self.row

    def __len__(self) -> int:
        """Return how many visits there are."""
        return len(self.slot)

    def take(self, rows: slice | NDArray[Any]) -> Visits:
        """Return some of the visits: a slice, row numbers, or a mask of shape (n,)."""
        return Visits(*_taken(_of_visits(self), rows))


def _taken(columns: tuple[Any, ...], rows: slice | NDArray[Any]) -> list[Any]:
    return [None if c is None else c.take(rows) if isinstance(c, Facts) else c[rows] for c in columns]


NEEDS: Final = frozenset(column.name for column in fields(Pages) if column.metadata.get("on_demand"))
"""The columns that policies may say they need."""
_of_pages: Final = attrgetter(*(column.name for column in fields(Pages)))
_of_visits: Final = attrgetter(*(column.name for column in fields(Visits)))
