"""The input of policies: columns of candidate pages, and columns of visit results."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Final

from numpy.typing import NDArray

from evercrawl.types import Flags, Floats, Ints, Keys, Slots

KIN_LEVELS: Final = 16
"""Maximum number of path prefixes by which a page may be grouped with others."""
ON_DEMAND: Final = {"on_demand": True}
"""Metadata of a column that costs memory and time per known page; it is kept only for policies that need it."""
USE_HALF_LIFE_S: Final = 30 * 86_400.0
"""Half-life of the use counts: use by people this long ago counts half as much as use now."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Columns of the candidate pages; row i is candidate i.

    Attributes
    ----------
    slot
        Discovery number: a smaller one was found earlier.
    visited_at
        Time of the last visit that showed the state of the page (including gone), in seconds since the epoch; nan
        before the first. A failed visit does not count if the content was seen before.
    importance
        Importance w, up to one factor common to all pages at all times.
    cash
        Cash that a visit would move: the residual of push, the cash of AOPIC; may be negative. If the crawl has a focus
        or weighs discovery, importance and cash are multiplied by the interest in the page.
    shape, scale_s
        Posterior of the rate of change, Gamma(shape a, rate parameter b in seconds), including the site's prior.
    cost, cost_changed
        Cost of a visit in any case, and additional cost if the page has changed, in units of the budget (fetches, or
        bytes). The first visit to a page costs both.
    neg_log_unchanged
        External evidence of a change since the last visit (a date in a sitemap): -ln of the probability that the page
        did not change; 0 without evidence.
    in_links
        Number of read pages that link to each page, according to their last reading. This attribute and the following
        ones are None unless the policy `needs` them.
    rank
        PageRank on the known graph, up to one factor; approximate for pages found since it was last solved.
    backlog
        Number of unread pages on the page's site.
    site
        Number of the page's site.
    retrieved, clicked
        Recent counts: search results in which the page was shown, and clicks on it from there, corrected for its
        position in the results. Events `USE_HALF_LIFE_S` ago count half.
    facts
        Properties of the page and its URL; see `Facts`.
    host
        Number of the page's host; a site may have several hosts.
    host_backlog
        Number of unread pages on the page's host.
    announced_share
        Fraction rho of its changes that the page's site announces: without an announcement, only the other changes are
        possible. None if no site is known to announce changes.
    found_at
        Approximate time of discovery of each unvisited page, in seconds since the epoch; nan for other pages. None if
        unknown, or if all pages were visited.
    host_price_ratio
        Price of a unit of the budget on the page's host, relative to the crawl's price: above 1 if the host allows
        fewer visits than would be worth making, below 1 if it has no visit worth the price. None if hosts are not
        distinguished.
    weight_ratio
        Weight of each page relative to its importance by links, if the crawl sets other weights (`weight`); otherwise
        None. Importance and cash already include this factor. A policy published without weights can thus follow its
        publication unless weights are requested.
    comeback_scale_s
        Slowness of the return of pages found gone at their last visit, in seconds: a page is back within t of that
        visit with probability 1 - (1 + t / comeback_scale_s)^-a (see `change.comebacks`); 0 for other pages. None if no
        page was found gone, or if the policy does not use it (`Policy.awaits`).
    row
        Number of each page among the visited pages, in the order of first visits; for an unvisited page, a number
        above all of these. Tables about visited pages are indexed by it. None if pages are identified by slot only.
    owed
        1 for unread pages that now precede all other pages of their hosts, because those had as many visits as their
        known properties justify; otherwise 0. None if this is not counted.
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
        """The index of pages in learned tables, shape (n,): `row` if present, else `slot`."""
        return self.slot if self.row is None else self.row

    def part(self, first: int, last: int) -> Pages:
        """Return the candidates from `first` up to, but not including, `last`."""
        return self.take(slice(first, last))

    def take(self, rows: slice | NDArray[Any]) -> Pages:
        """Return the candidates selected by a slice, row numbers, or a mask of shape (n,)."""
        return Pages(*_taken(_of_pages(self), rows))


@dataclass(frozen=True, slots=True)
class Facts:
    """Properties of pages and their URLs; row i belongs to candidate i, zeros where unknown.

    Attributes
    ----------
    depth
        Number of links followed from a seed to the page.
    url_bytes, dynamic
        Length of the URL; 1.0 if the URL looks dynamically generated, else 0.0.
    anchor_bytes
        Size of the known anchor texts of links to the page.
    index_bytes, abstract_bytes, text_bytes
        Sizes of the page's text in the search index, of its abstract in result lists, and of its full text.
    similarity
        Similarity of the page to what people search for, from 0 to 1.
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
    """Results of visits, in the order in which they were made; row i is a visit.

    Attributes
    ----------
    slot, site
        Slot of the page, and number of its site.
    at, interval_s
        Time of the visit, in seconds since the epoch; time since the last visit that showed whether the page changed,
        nan if there was none.
    read
        Whether the visit was informative: it returned content, or the answer that the page is unchanged.
    gone
        Whether the page was found gone (404, 410).
    changed
        Whether the page was found changed; false for a first visit.
    age_s
        Time between the last change and the visit, according to a trusted date; nan without one. For a first visit,
        the age of the content found.
    received
        Bytes received over the network.
    size
        Bytes of the text that the page shows. If unknown (in histories, and for old crawls that did not record it), the
        bytes of the content.
    links, relinked
        Number of other pages that the page links to; whether the set of links differs from the previous one.
    found
        Number of URLs discovered by the visit.
    folder, name
        Keys of the page's folder (its host, and its path up to the last slash), and of its site plus the rest of the
        path; 0 for pages read before, whose keys never change. None if they are not needed.
    predicted_fresh
        Probability that the copy was fresh, as the policy itself predicted before the visit; nan without a prediction.
        None if there were no predictions at all.
    host
        Number of the page's host; None if unknown.
    row
        Number of the page among the visited pages, as in `Pages`.
    fresh_by_time
        Probability before the visit that the copy was fresh, by the posterior of the rate of change alone
        (`Pages.shape`, `scale_s`); nan if unknown. None if it is never computed.
    digest
        32 bits of the digest of the page's content; 0 if the visit does not show it. None if it is never computed.
    kin
        Keys of the path prefixes that similar pages share, from short to long, shape (n, KIN_LEVELS); 0 beyond the last
        prefix, and for pages read before, as for `name`. None if they are not needed.
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
        """The index of pages in learned tables, shape (n,): `row` if present, else `slot`."""
        return self.slot if self.row is None else self.row

    def __len__(self) -> int:
        """Return the number of visits."""
        return len(self.slot)

    def take(self, rows: slice | NDArray[Any]) -> Visits:
        """Return the visits selected by a slice, row numbers, or a mask of shape (n,)."""
        return Visits(*_taken(_of_visits(self), rows))


def _taken(columns: tuple[Any, ...], rows: slice | NDArray[Any]) -> list[Any]:
    return [None if c is None else c.take(rows) if isinstance(c, Facts) else c[rows] for c in columns]


NEEDS: Final = frozenset(column.name for column in fields(Pages) if column.metadata.get("on_demand"))
"""Names of the optional columns that policies can request."""
_of_pages: Final = attrgetter(*(column.name for column in fields(Pages)))
_of_visits: Final = attrgetter(*(column.name for column in fields(Visits)))
