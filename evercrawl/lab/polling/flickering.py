"""Simulated pages, some of which flicker: only a worthless advertisement on them changes."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.polling.changing import AnnouncedSignals, ChangingWorld, SeenChanges
from evercrawl.lab.polling.poisson import Poisson
from evercrawl.lab.polling.population import Population
from evercrawl.model.worth.lasting_weight import counted
from evercrawl.schedule.formulas import allocation
from evercrawl.store.records import lasting
from evercrawl.types import Floats, Ints

_HASHES: Final = 1 << lasting.BITS


class Flickering(ChangingWorld):
    """Pages that change by Poisson processes; on flickering pages, only content that does not last changes.

    Only the freshness of the other pages counts: the lasting content of a flickering page never changes. Each state of
    a page has its own similarity hash, from which a crawl learns the lasting share of changes.

    Parameters
    ----------
    pages
        The population.
    flickers
        Which pages flicker, shape (n,).
    seed
        The random seed.
    each_look
        Whether flickering pages change at each look; otherwise they change at their rates.
    heeded
        Whether a page's weight depends on the lasting share of its changes, as `lasting` in a crawl.

    Attributes
    ----------
    visits, wasted
        Number of visits, and of those to flickering pages.
    """

    def __init__(
        self, pages: Population, flickers: NDArray[np.bool_], seed: int, *, each_look: bool, heeded: bool
    ) -> None:
        n, self._flickers, self._each_look, self._heeded = len(pages), flickers, each_look, heeded
        others = Population(np.where(flickers, 0.0, pages.weight), pages.lam_per_day, pages.host)
        self._others, self._importance = Poisson(others, seed), pages.weight
        self.weight, self.host = pages.weight.copy(), pages.host
        self._draw = np.random.default_rng([seed, 3])  # the same changes with and without `heeded`
        self._hash = np.zeros(n, np.int64)  # of each page at its last visit; 0 before the first
        self._kept: list[tuple[int, int]] = [(lasting.START, 0)] * n
        self.visits = self.wasted = 0

    def visit(self, rows: Ints, now: float) -> SeenChanges:
        """Copy pages, and return the results."""
        seen, before = self._others.visit(rows, now), self._hash[rows]
        new = before == 0
        changed = (seen.changed | (self._flickers[rows] & self._each_look)) & ~new
        after = np.where(changed | new, self._draw.integers(1, _HASHES, len(rows)), before)
        self._hash[rows] = after
        self.visits += len(rows)
        self.wasted += int(np.count_nonzero(self._flickers[rows]))
        if self._heeded:
            places: list[int] = rows.tolist()
            for i, row in enumerate(places):
                mean, earlier = self._kept[row]
                self._kept[row] = lasting.learn(mean, earlier, int(before[i]), int(after[i]), changed=bool(changed[i]))
            stays = lasting.part(np.array([self._kept[row][0] for row in places]))
            self.weight[rows] = self._importance[rows] * counted(stays)
        return SeenChanges(changed, seen.age_s, seen.gone)

    def pass_to(self, now: float) -> AnnouncedSignals | None:
        """Advance the time; nothing is announced."""
        return self._others.pass_to(now)

    def stale(self, now: float) -> NDArray[np.bool_]:
        """Return which copies of pages that do not flicker are stale, shape (n,)."""
        stale: NDArray[np.bool_] = self._others.stale(now) & ~self._flickers
        return stale

    def earned(self, now: float) -> float:
        """Return the expected integral of the fresh share of the weight of pages that do not flicker, in seconds."""
        return self._others.earned(now)

    def best(self, budget: float) -> float:
        """Return the optimum if all rates are known, and which pages flicker."""
        return self._others.best(budget)


def flickering(pages: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Return which pages flicker, shape (n,): a random share, independent of importance and rates.

    >>> int(flickering(1000, 0.3, seed=1).sum())
    300
    """
    found = np.zeros(pages, np.bool_)
    found[np.random.default_rng([seed, 4]).permutation(pages)[: round(share * pages)]] = True
    return found


def in_closed_form(pages: Population, flickers: NDArray[np.bool_], budget: float) -> tuple[float, float]:
    """Return the best freshness if all changes are treated alike, and if it is known which pages flicker.

    In closed form, with known rates; flickering pages change at their rates.
    """
    others: Floats = np.where(flickers, 0.0, pages.weight)
    rate = pages.optimum(budget).rate
    fresh = allocation.freshness(rate, pages.lam_per_day)
    best = Population(others, pages.lam_per_day, pages.host).optimum(budget).value
    return float(np.average(fresh, weights=others)), best
