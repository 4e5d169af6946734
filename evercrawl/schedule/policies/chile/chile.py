"""Chile: the visit that adds most to what the collection is worth, batch by batch."""

import math
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.abilities import Follows, Learns, Places, Plans, Resumes, Tabulates, Tunable
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import seconds
from evercrawl.schedule.policies.chile.batch import ChileBatch
from evercrawl.schedule.policies.chile.options import Options
from evercrawl.schedule.policies.chile.rates import ChileCounts
from evercrawl.schedule.policies.chile.worth import UsualScores, quality, represented, usual
from evercrawl.schedule.shared.pacing import MeasuredPace
from evercrawl.types import Flags, Floats

_PARTS: Final = (0.001, 0.01)  # of all pages that wait, which are in a batch: at least, and at most
_USUAL_S: Final = 10.0  # that a batch takes in between: few visits, but some to put in order
_SOONEST_S: Final = 1.0  # between two looks at all pages


class Chile(Learns, Plans, Tunable, Follows, Resumes, Tabulates, Places, Policy):
    """Visit the page to which a visit adds most, where a page is worth V = q^a r^b p^c to the collection.

    q is its worth by links, queries, visits of people and the look of its URL; r, from 0 to 1, which part of it is
    held; p = e^(-lambda H) the probability that it is still so, H after the last visit. After a visit p is 1 and r what
    the page brings, so a visit adds **q^a (r_after^b - r^b p^c)**. The formula as it is printed would take the freshest
    page first. What is held of a page that was never read, its URL and what links say, is taken to stay true (p = 1).
    With a = b = c = 1 and links alone it is the myopic rule w (1 - e^(-lambda H)): pages that no visit helps enough,
    for they weigh little, are left alone for good, which is the policy's own weakness. So is that it would visit what
    weighs most again and again, within minutes, were there not a time for which a page is left alone.

    Parameters
    ----------
    a
        Exponent of a page's worth q.
    b
        Exponent of r, the stored part of a page.
    c
        Exponent of p, the freshness of that part.
    links
        Weight in q of importance, in units of its mean.
    queries
        Weight in q of the page's similarity to what people search for; the similarity is from 0 to 1.
    visits
        Weight in q of use by people, in units of its mean.
    url
        Weight in q of the form of the URL; the form counts from 0 to 1.
    batch_pages
        Maximum number of visits in a batch. A batch has as many visits as are made in 10 s, but at least a thousandth
        and at most a hundredth of all waiting pages. A page is visited once per batch, so longer batches would delay
        the pages that deserve the most visits.
    site_pages
        Maximum number of pages of one site, with all host names of its domain, in a batch. (In the paper a site is one
        host name.)
    host_order
        Order of a batch's hosts: "largest" begins with the hosts with most pages left in the batch, "queued" with those
        with most unread pages, "round_robin" with those with fewest requests.
    soonest
        Minimum time between two visits of a page while others wait.
    rates
        Estimate of lambda, the rate of change: "counts", from counts of changes, as in the paper's crawler; or
        "posterior", the posterior mean.

    Examples
    --------
    The first page matters twice as much but will hardly have changed; the third was never read.

    >>> from evercrawl.schedule import Pages
    >>> one, none = np.ones(3), np.zeros(3)
    >>> visited_at, weight = np.array([0.0, 0.0, np.nan]), np.array([2.0, 1.0, 1.5])
    >>> shape, scale_s = 1e12 * one, 1e12 / np.array([0.1, 1.0, 1.0])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), visited_at, weight, none, shape, scale_s, one, none, none)
    >>> Chile().gain(pages, now=1.0).round(3)
    array([0.19 , 0.632, 1.5  ])

    References
    ----------
    Castillo (2004). Effective Web Crawling (thesis, University of Chile), and Baeza-Yates, Castillo (2002). Balancing
    Volume, Quality and Freshness in Web Crawling, known from the survey of Meng, Wang, Yan (2006), (25) to (27).
    Checked against the source of the authors' crawler, WIRE: the score as a weighted sum times a power of p, the rank
    by "future less current score", both estimators of lambda, batches with a bound of 500 pages a site, no second visit
    before a time. There a page never read has p = 0. Ours: how long that time is, the two middle orders of hosts, and
    see `chile_worth`.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"facts", "site", "host", "host_backlog", "retrieved", "clicked"})

    __signature__: ClassVar = signature(Options)

    def __init__(self, **given: float | str) -> None:
        self._options = Options(**given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        self._counts, self._batch, self._pace, self._usual = ChileCounts(), ChileBatch(), MeasuredPace(), UsualScores()
        self._least = math.nan

    def gain(self, pages: Pages, now: float) -> Floats:
        """Return what a visit at `now` adds to the worth of the collection, shape (n,)."""
        new = np.isnan(pages.visited_at)
        before, after = represented(pages, new, self._usual)
        left_s = np.where(new, 0.0, np.maximum(now - pages.visited_at, 0.0))
        fresh = np.exp(-self._options.c * (self.rates(pages) * left_s + np.where(new, 0.0, pages.neg_log_unchanged)))
        b = self._options.b
        return self._worth(pages) * np.maximum(after**b - before**b * fresh, 0.0)

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the gain, squeezed below 1; for pages of the batch, 1 more and what their host's turn says.

        For pages that are to be left alone a while, it is 1 less: below that of any other.
        """
        gains = self.gain(pages, context.now)
        least = self._least if self._least > 0 else 1.0
        squeezed = gains / (gains + least)
        held = self._batch.holds(gains, pages, np.isnan(pages.visited_at))
        planned = np.where(held, 1.0 + self._batch.rank(pages, self._options.host_order), 0.0)
        return np.where(self._soon(pages, context.now), -1.0, planned) + squeezed

    def place(self, page: Pages, context: Context) -> str:
        """Return where the page stands, if it was visited so lately that it is left alone."""
        return "after all pages not visited within soonest" if self._soon(page, context.now)[0] else ""

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return when a visit to each will add as much as to the last page of a batch; infinity where it never will."""
        if math.isnan(self._least):
            return pages.visited_at
        held, _ = represented(pages, np.isnan(pages.visited_at), self._usual)
        most = self._worth(pages) * held**self._options.b
        part = np.divide(self._least, most, out=np.ones(len(most)), where=most > self._least)
        never = part >= 1
        level = -np.log1p(-np.where(never, 0.0, part)) / self._options.c - pages.neg_log_unchanged
        with np.errstate(divide="ignore", over="ignore"):
            wait_s = np.maximum(level, 0.0) / self.rates(pages)
        wait_s = np.maximum(np.where(np.isnan(wait_s), 0.0, wait_s), self._soonest_s)
        return np.where(never, np.inf, pages.visited_at + wait_s)

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        """Pick the next batch, where the one before is spent, or took twice as long as it should."""
        if not len(pages.slot):
            return context.now + 1.0
        if not self._batch.going(context.now):
            self._usual = usual(pages)
            ready = ~self._soon(pages, context.now)
            size = self._size(len(pages.slot) + unread, int(ready.sum()) + unread)
            length_s, of_site = size / self._pace.per_s, int(self._options.site_pages)
            self._batch.pick(self.gain(pages, context.now) * ready, pages, size, of_site, context.now, length_s)
            self._least = self._batch.least
        return context.now + max(self._batch.left / self._pace.per_s, _SOONEST_S)

    def _size(self, waiting: int, ready: int) -> int:
        """Return how many visits a batch is to have, where some of those that wait are not left alone for now."""
        least, most = (math.ceil(part * waiting) for part in _PARTS)
        usual = max(math.ceil(_USUAL_S * self._pace.per_s), least)
        return max(min(int(self._options.batch_pages), usual, most, ready), 1)

    @property
    def _soonest_s(self) -> float:
        return seconds(self._options.soonest)

    def _soon(self, pages: Pages, now: float) -> Flags:
        """Return which pages were visited so lately that they are left alone."""
        soon: Flags = now - pages.visited_at < self._soonest_s
        return soon

    def learn(self, visits: Visits) -> None:
        """Count changes, and what is left of the batch."""
        self._counts.learn(visits)
        self._batch.learn(visits)

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Take note of the pace, and of the visits that were the batch's."""
        self._pace.made(len(values), context.now)
        self._batch.made(int(np.count_nonzero(values > 1.0)), new)

    def adjust(self, options: Mapping[str, float | str]) -> None:
        """Take other values for any of the parameters; what is left of the batch is dropped.

        Raises
        ------
        ConfigError
            A value is none for its parameter.
        """
        self._options = replace(self._options, **options)  # type: ignore[arg-type]
        self._batch.drop()
        self._least = math.nan

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return `changes`, what was counted of each page, and `batch`, what of it is still to be visited.

        Returns
        -------
        changes
            Counts for each page that was visited twice; lambda is computed from them.

            slot : page
                The page.
            visits : visits
                Visits that showed whether the page had changed: all but the first and failed ones.
            changes : visits
                Visits that found the page changed.
            undated : visits
                Visits that found the page changed, without a trusted date of the change.
            span_s : seconds
                Time from the page's first visit to its last.
            unchanged_s : seconds
                Total time in which the page is known to have stayed unchanged: for each visit, the time to the trusted
                date of a change, or else the whole interval.
        batch
            The pages of a batch that are still to be visited. A resumed crawl and each export pick a new batch.

            slot : page
                The page.
        """
        return {"changes": self._counts.table(), "batch": {"slot": self._batch.slots()}}

    def notes(self) -> dict[str, float]:
        """Return what a visit adds to the last page of a batch; nothing before the first."""
        return {} if math.isnan(self._least) else {"chile_gain": self._least}

    def resume(self, notes: dict[str, float]) -> None:
        """Go on with the gain there was, until the first batch of this run is picked."""
        self._least = notes.get("chile_gain", self._least)

    def _worth(self, pages: Pages) -> Floats:
        """Return q^a."""
        of = self._options
        return quality(pages, self._usual, of.links, of.queries, of.visits, of.url) ** of.a

    def rates(self, pages: Pages) -> Floats:
        """Return how often pages change, shape (n,), as the option `rates` has it."""
        return self._counts.rates(pages) if self._options.rates == "counts" else pages.shape / pages.scale_s
