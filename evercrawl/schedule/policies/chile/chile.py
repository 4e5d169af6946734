"""Chile: batches of the visits that add most to the value of the collection."""

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

_PARTS: Final = (0.001, 0.01)  # minimum and maximum size of a batch, as fractions of all waiting pages
_USUAL_S: Final = 10.0  # usual duration of a batch: short, but long enough for some pages to be ordered
_SOONEST_S: Final = 1.0  # minimum time between two plans


class Chile(Learns, Plans, Tunable, Follows, Resumes, Tabulates, Places, Policy):
    """Visit the page whose visit adds most to the value of the collection; a page has the value V = q^a r^b p^c.

    q is the page's quality by links, queries, use by people and the form of its URL; r, from 0 to 1, is the stored part
    of it; p = e^(-lambda H) is the probability that this part is still current, H after the last visit. After a visit p
    is 1 and r is the part that the page provides, so a visit adds **q^a (r_after^b - r^b p^c)**. The formula as printed
    would visit the freshest page first. The stored data about an unread page, its URL and anchor texts, is assumed to
    stay current (p = 1).

    With a = b = c = 1 and links alone this is the myopic rule w (1 - e^(-lambda H)). It has two known weaknesses: pages
    of low weight, whose visits never gain enough, are never visited again; and without a minimum time between visits,
    the pages of highest weight would be visited again within minutes.

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
    The first page is twice as important, but has hardly changed; the third was never read.

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
    by "future less current score", both estimators of lambda, batches with a limit of 500 pages per site, a minimum
    time between visits. In WIRE, an unread page has p = 0. Ours: the length of the minimum time, the two middle orders
    of hosts, and see `chile.worth`.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"facts", "site", "host", "host_backlog", "retrieved", "clicked"})

    __signature__: ClassVar = signature(Options)

    def __init__(self, **given: float | str) -> None:
        self._options = Options(**given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        self._counts, self._batch, self._pace, self._usual = ChileCounts(), ChileBatch(), MeasuredPace(), UsualScores()
        self._least = math.nan

    def gain(self, pages: Pages, now: float) -> Floats:
        """Return the gain of a visit at `now` in the value of the collection, shape (n,)."""
        new = np.isnan(pages.visited_at)
        before, after = represented(pages, new, self._usual)
        left_s = np.where(new, 0.0, np.maximum(now - pages.visited_at, 0.0))
        fresh = np.exp(-self._options.c * (self.rates(pages) * left_s + np.where(new, 0.0, pages.neg_log_unchanged)))
        b = self._options.b
        return self._worth(pages) * np.maximum(after**b - before**b * fresh, 0.0)

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the gain, mapped below 1; for pages of the batch, plus 1 and the rank of their host.

        For pages visited too recently, the value is 1 less, and so below that of any other page.
        """
        gains = self.gain(pages, context.now)
        least = self._least if self._least > 0 else 1.0
        squeezed = gains / (gains + least)
        held = self._batch.holds(gains, pages, np.isnan(pages.visited_at))
        planned = np.where(held, 1.0 + self._batch.rank(pages, self._options.host_order), 0.0)
        return np.where(self._soon(pages, context.now), -1.0, planned) + squeezed

    def place(self, page: Pages, context: Context) -> str:
        """Return the position of the page if it was visited too recently to be visited again."""
        return "after all pages not visited within soonest" if self._soon(page, context.now)[0] else ""

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return when a visit to each page will add as much as to a batch's last page; infinity if it never will."""
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
        """Pick the next batch if the previous one is finished, or took twice its planned duration."""
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
        """Return the number of visits in a batch; `ready` of the waiting pages may be visited now."""
        least, most = (math.ceil(part * waiting) for part in _PARTS)
        usual = max(math.ceil(_USUAL_S * self._pace.per_s), least)
        return max(min(int(self._options.batch_pages), usual, most, ready), 1)

    @property
    def _soonest_s(self) -> float:
        return seconds(self._options.soonest)

    def _soon(self, pages: Pages, now: float) -> Flags:
        """Return which pages were visited too recently to be visited again."""
        soon: Flags = now - pages.visited_at < self._soonest_s
        return soon

    def learn(self, visits: Visits) -> None:
        """Count changes, and the remaining visits of the batch."""
        self._counts.learn(visits)
        self._batch.learn(visits)

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Measure the pace, and count the visits of the batch."""
        self._pace.made(len(values), context.now)
        self._batch.made(int(np.count_nonzero(values > 1.0)), new)

    def adjust(self, options: Mapping[str, float | str]) -> None:
        """Set new values for any of the parameters; the rest of the batch is dropped.

        Raises
        ------
        ConfigError
            A value is not valid for its parameter.
        """
        self._options = replace(self._options, **options)  # type: ignore[arg-type]
        self._batch.drop()
        self._least = math.nan

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return `changes`, the counts of each page, and `batch`, its pages still to be visited.

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
        """Return the gain of a visit to the last page of a batch; nothing before the first batch."""
        return {} if math.isnan(self._least) else {"chile_gain": self._least}

    def resume(self, notes: dict[str, float]) -> None:
        """Resume with the stored gain, until this run picks its first batch."""
        self._least = notes.get("chile_gain", self._least)

    def _worth(self, pages: Pages) -> Floats:
        """Return q^a."""
        of = self._options
        return quality(pages, self._usual, of.links, of.queries, of.visits, of.url) ** of.a

    def rates(self, pages: Pages) -> Floats:
        """Return the rates of change of pages, shape (n,), by the estimator that the option `rates` selects."""
        return self._counts.rates(pages) if self._options.rates == "counts" else pages.shape / pages.scale_s
