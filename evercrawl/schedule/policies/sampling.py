"""Sampling: probe a few pages of each site, then visit the sites with the most changed probes (Cho, Ntoulas)."""

from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas import probing
from evercrawl.schedule.formulas.site_shares import fit
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, bounded, choice, number
from evercrawl.schedule.shared.planned import PlannedRates
from evercrawl.schedule.shared.site_tallies import SiteTallies
from evercrawl.schedule.shared.spaced import drawn
from evercrawl.types import Floats, Ints

SIZES: Final = {"exact": probing.exact_sizes, "best": probing.best_size, "printed": probing.printed_size}
SPLITS: Final = ("greedy", "proportional")
_PROBES_LEAST: Final = 2.0  # minimum visits of a period per cluster: one probe, and one visit to use its result
_FIRST_S: Final = 1e9  # by how much earlier a picked page falls due than by its last visit
_DAY_S: Final = 86_400.0
_PROBE, _REST = 2, 1
_PAGE: Final = [
    ("picked_at", "f8"), ("at", "f8"), ("cluster", "u4"), ("picked", "u1"), ("changed", "u1"), ("read", "?"),
]  # fmt: skip


class _Sites(NamedTuple):
    """The sites, the index of each page's site among them, and the number of pages of each site."""

    number: NDArray[Any]
    of: Ints
    pages: Floats


class Sampling(PlannedRates):
    """Probe some pages of every site in each period, then visit the sites with the largest share of changed probes.

    The number of visits in a period is `part` times the number of pages. If there are fewer probes than sites, small
    sites are joined. A change counts as much as the mean importance of the site's pages; within a site, important pages
    visited long ago come first. The distribution of the share of changed pages over sites is learned from all visits.
    The results for a site are the prior of its next probes, and are discounted by a tenth with each period. The policy
    finds changes, as published, and does not maximise freshness: it prefers sites that change all the time.

    Parameters
    ----------
    part
        r, the number of visits in a period, as a fraction of all pages.
    size
        Number of pages of a site that are probed: exact, the number that finds the most changes; best, its first-order
        approximation, which spends all visits of a site with few visits on probes; or printed, the formula as printed
        in the survey.
    split
        How the other visits are split: greedy, the site with the largest share of changes first; or proportional to the
        expected number of changed pages.
    new_share
        See `PlannedRates`.

    Examples
    --------
    Both pages of site 1 had changed at their last reading, those of site 0 had not:

    >>> from evercrawl.schedule import Pages, Visits
    >>> none, one, no = np.zeros(4), np.ones(4), np.zeros(4, bool)
    >>> slots, site = np.arange(4, dtype=np.uint32), np.array([0, 0, 1, 1], np.uint32)
    >>> policy, changed = Sampling(part=1.0), np.array([False, False, True, True])
    >>> policy.learn(Visits(slots, site, one, one, ~no, no, changed, none, none, none, slots, no, slots))
    >>> [round(float(share), 2) for share in policy.shares(np.array([0, 1], np.uint32))]
    [0.1, 0.9]

    References
    ----------
    Cho, Ntoulas (2002). Effective change detection using sampling.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"site"})
    reviews: ClassVar[int] = 32

    @bounded
    def __init__(
        self,
        part: Annotated[float, number(0.001, 1)] = 0.1,
        size: Annotated[str, choice(*SIZES)] = "exact",
        split: Annotated[str, choice(*SPLITS)] = "greedy",
        new_share: float = 0.5,
    ) -> None:
        super().__init__(new_share)
        self.part = part
        self.size = size
        self.split = split
        self._pages, self._sites = Rows(_PAGE), SiteTallies()
        self._known, self._periods = 0, 0.0
        self._shares: Floats = np.zeros(1)  # prior share of each cluster; the last entry is for new pages
        self._probing, self._began_at, self._cycle_s = False, 0.0, 1.0

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return ones: pages have no rates of their own."""
        return np.ones(len(lam))

    def learn(self, visits: Visits) -> None:
        """Count for each site the visits that showed whether a page changed, and those that found a change."""
        told = visits.read & ~np.isnan(visits.interval_s)
        rows = self._pages.upto(int(visits.slot.max(initial=0)) + 1)
        known = np.cumsum(np.concatenate([[self._known], visits.read & ~rows["read"][visits.slot]]))
        self._known = int(known[-1])
        rows["read"][visits.slot[visits.read]] = True
        slots = visits.slot[told]
        rows["at"][slots], rows["changed"][slots] = visits.at[told], visits.changed[told]
        each = 1.0 / np.maximum(self.part * known[1:][told], _PROBES_LEAST)
        periods = np.cumsum(np.concatenate([[self._periods], each]))
        self._periods = float(periods[-1])
        self._sites.learn(visits.site[told], visits.changed[told], periods[1:].astype(np.int64))

    def shares(self, sites: NDArray[Any]) -> Floats:
        """Return the expected share of changed pages of each site, shape (n,).

        The results of its visits count, plus half a changed page and half an unchanged page.
        """
        told, changed = self._sites.take(sites)
        return (changed + 0.25) / (told + 0.5)

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        """Pick the pages to probe, or to visit in the rest of the period; return when these visits will be done."""
        n = len(pages.slot)
        if not n:
            return context.now + 1.0
        assert pages.site is not None, "the caller gathers the columns that the policy needs"
        budget = self._per_s() * (1.0 - self.new_share if unread and self.new_share < 1.0 else 1.0)
        self._cycle_s, visits = n / budget, max(self.part * n, _PROBES_LEAST)
        rows = self._pages.upto(int(pages.slot.max()) + 1)
        if self._probing:
            picked, used = self._rest(pages, rows, visits, context.now), _REST
        else:
            self._began_at = context.now
            picked, used = self._probes(pages, rows, visits), _PROBE
        self._probing = not self._probing
        rows["picked"][pages.slot] = np.where(picked, used, 0)
        rows["picked_at"][pages.slot] = context.now
        return context.now + max(float(picked.sum()) / budget, 1.0)

    def _probes(self, pages: Pages, rows: NDArray[Any], visits: float) -> NDArray[np.bool_]:
        """Return which pages are probed: a random sample of the given size from each cluster of sites."""
        assert pages.site is not None
        number, of = np.unique(pages.site, return_inverse=True)
        sites = _Sites(number, of, np.bincount(of).astype(np.float64))
        count = max(int(visits / _PROBES_LEAST), 1)
        shares = self.shares(number)
        cluster = probing.clusters(sites.pages, shares, count)[of]
        rows["cluster"][pages.slot] = cluster
        size = np.bincount(cluster).astype(np.float64)
        self._shares = np.append(np.bincount(cluster, shares[of]) / np.maximum(size, 1.0), shares[of].mean())
        part = min(visits / len(of), 0.999)
        told, changed = self._sites.take(number)
        probes = np.maximum(np.round(SIZES[self.size](size, part, fit(changed, told))), 1.0)
        lots = drawn(pages.slot, np.full(len(of), self._began_at))
        return np.asarray(_place(cluster, lots) < probes[cluster])

    def _rest(self, pages: Pages, rows: NDArray[Any], visits: float, now: float) -> NDArray[np.bool_]:
        """Return which pages are visited in the rest of the period, according to the results of the probes.

        The results update the prior of each cluster, because otherwise clusters with one probe each would be alike.
        Pages found since then form a cluster of their own, the last.
        """
        row, count = rows[pages.slot], len(self._shares)
        cluster = np.where(row["picked_at"] == self._began_at, row["cluster"], count - 1).astype(np.int64)
        probed = (row["picked"] == _PROBE) & (row["at"] >= self._began_at)
        told = np.bincount(cluster[probed], minlength=count).astype(np.float64)
        changed = np.bincount(cluster[probed], row["changed"][probed], count).astype(np.float64)
        left = np.bincount(cluster[~probed], minlength=count).astype(np.float64)
        weight = np.maximum(pages.importance, 0.0)
        matter = np.bincount(cluster, weight, count) / np.maximum(np.bincount(cluster, minlength=count), 1)
        spread = fit(changed, told)
        evidence = spread.a + spread.b
        share = (evidence * self._shares + changed) / (evidence + told) * matter
        split = probing.greedy if self.split == "greedy" else probing.proportional
        each = np.round(split(left, share, min(max(visits - told.sum(), 1.0), float(left.sum()))))
        waited = np.where(probed, -np.inf, weight * (now - pages.visited_at))
        return np.asarray((_place(cluster, -waited) < each[cluster]) & ~probed)

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return 2 for probes and 1 for other picked pages, and more for those that have waited longer."""
        new = np.isnan(pages.visited_at)
        waited_s = np.maximum(context.now - np.where(new, context.now, pages.visited_at), 0.0)
        worth = self._picked(pages) + waited_s / (waited_s + self._cycle_s)
        return self._turns.order(np.where(new, self.promise(pages), worth), new)

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return an instant long past for picked pages; for others, when all pages could have been visited."""
        return pages.visited_at + np.where(self._picked(pages) > 0, -_FIRST_S, self._cycle_s)

    def _picked(self, pages: Pages) -> Floats:
        rows = self._pages.take(pages.slot)
        return np.where(rows["picked_at"] > pages.visited_at, rows["picked"].astype(np.float64), 0.0)

    def resume(self, notes: dict[str, float]) -> None:
        """Begin a period at the pace of an earlier run."""
        super().resume(notes)
        self._probing = False

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the sites.

        Returns
        -------
        sites
            Results of recent visits for each site, probes and others.

            site : site
                The site.
            told : visits
                Visits that showed whether the page had changed; older ones count less.
            changed : share of these
                Share of these visits that found the page changed.
        """
        number, told, changed = self._sites.all()
        return {"sites": {"site": number, "told": told, "changed": changed / told}}


def _place(cluster: Ints, key: Floats) -> Ints:
    """Return each page's rank within its cluster by a key, from 0, shape (n,)."""
    order = np.lexsort((key, cluster))
    sizes = np.bincount(cluster)
    place = np.empty(len(cluster), np.int64)
    place[order] = np.arange(len(cluster)) - (np.cumsum(sizes) - sizes)[cluster[order]]
    return place
