"""Worth and times of visits, by the formulas of the papers or by trying all: what tests hold schedules against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.formulas.index import HARMONIC, NEVER_S, index
from evercrawl.schedule.formulas.probing import best_size, changes_found
from evercrawl.schedule.formulas.signals import PageSignals, times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from evercrawl.schedule.formulas.site_shares import Shares
    from evercrawl.types import Floats


def stale(share: ArrayLike, lam: ArrayLike, access_s: float, level: ArrayLike) -> Floats:
    """Return the lower bound on each page's staleness, 1 - f / (lam E X) (1 - h^(1/f)): (33).

    It is reached where the page is accessed evenly, once in 1 / f accesses.

    Examples
    --------
    One page alone, always accessed, which changes in one access of e: it is fresh for (1 - 1/e) of the time.

    >>> stale([1.0], [1.0], 1.0, [1.0]).round(6)
    array([0.367879])
    """
    share, lam, level = (np.asarray(each, np.float64) for each in (share, lam, level))
    return 1.0 - level / (lam * access_s) * allocation.freshness(share, level)


def stale_at_random(share: ArrayLike, lam: ArrayLike, access_s: float, level: ArrayLike) -> Floats:
    """Return each page's staleness where each access is to a page drawn by lot: 1 - f g / (lam E X (f + g)).

    Here g = 1 / h - 1.

    Examples
    --------
    >>> stale_at_random([1.0], [1.0], 1.0, [np.log(2)]).round(6)
    array([0.5])
    """
    share, lam, level = (np.asarray(each, np.float64) for each in (share, lam, level))
    grown = np.expm1(level)
    return 1.0 - share * grown / (lam * access_s * (share + grown))


def published_shares(level: ArrayLike) -> Floats:
    """Return the shares ln(1/h) / sum ln(1/h): (34), the least sum of lam times staleness.

    Examples
    --------
    >>> published_shares([0.1, 0.2, 0.5])
    array([0.125, 0.25 , 0.625])
    """
    level = np.asarray(level, np.float64)
    return np.asarray(level / level.sum())


def published_random_shares(level: ArrayLike) -> Floats:
    """Return the shares in proportion to 1 / h - 1, the least sum of lam times staleness at accesses by lot.

    Examples
    --------
    >>> published_random_shares(np.log([2.0, 4.0]))
    array([0.25, 0.75])
    """
    grown = np.expm1(np.asarray(level, np.float64))
    return np.asarray(grown / grown.sum())


_TRIED: Final = 4096  # sizes that `exact_size` tries in any case, and


_FURTHER: Final = 6.0  # up to how many times the first-order optimum, where that is more


def exact_size(pages: int, part: float, shares: Shares) -> int:
    """Return the probes a site with which the most changed pages are expected to be found.

    All sizes are tried, of very large sites those up to some thousands or some times the first-order optimum.

    Examples
    --------
    >>> from evercrawl.schedule.formulas.site_shares import Shares
    >>> exact_size(1000, 0.1, Shares(1.0, 1.0))
    10
    """
    last = min(int(part * pages + 1e-9), max(int(_FURTHER * float(best_size(pages, part, shares))), _TRIED))
    return max(range(1, max(last, 1) + 1), key=lambda size: changes_found(size, pages, part, shares))


class Visited(NamedTuple):
    """The instants after which to visit, as numbers from 0; and the part of the time in which the copy is stale."""

    after: list[int]
    stale: float


def best_visits(times: Sequence[float], chances: Sequence[float], horizon: float, visits: int) -> Visited:
    """Return after which instants to visit a page, O(instants^2 visits), where it is fresh at 0.

    Parameters
    ----------
    times
        Instants at which the page may change, rising, within the horizon.
    chances
        With which probability it does at each.
    horizon
        How long the time is that counts.
    visits
        How many there are to be at most.

    Examples
    --------
    >>> best_visits([1.0, 2.0, 3.0, 4.0], [0.9, 0.1, 0.5, 0.8], 5.0, 2)
    Visited(after=[0, 3], stale=0.13)
    """
    edges = np.concatenate([[0.0], np.asarray(times, np.float64), [horizon]])
    fresh = _fresh_between(edges, np.asarray(chances, np.float64))
    ends = len(edges) - 1
    best, came = fresh[0].copy(), list[Any]()  # fresh time up to each edge, where the last visit was at 0
    for _ in range(min(visits, ends - 1)):
        through = best[1:ends, None] + fresh[1:ends]  # one visit more, after the instant of each row
        at = np.concatenate([[0], through.argmax(0)[1:] + 1])
        longer = np.concatenate([[0.0], through.max(0)[1:]])
        came.append(np.where(longer > best, at, 0))
        best = np.maximum(best, longer)
    after, edge = list[int](), ends
    for previous in reversed(came):
        if previous[edge]:
            edge = int(previous[edge])
            after.append(edge - 1)
    return Visited(after[::-1], 1.0 - float(best[ends]) / horizon)


def _fresh_between(edges: Floats, chances: Floats) -> Floats:
    """Return how long a copy taken just after each edge is fresh before each later one, shape (edges, edges)."""
    n = len(edges)
    found = np.full((n, n), -np.inf)
    for start in range(n - 1):
        left = np.concatenate([[1.0], np.cumprod(1.0 - chances[start:])])
        found[start, start] = 0.0
        found[start, start + 1 :] = np.cumsum(np.diff(edges[start:]) * left)
    return found


def level(of: PageSignals, age_s: ArrayLike, count: ArrayLike) -> Floats:
    """Return y, -ln of the probability that copies of some age are fresh, `count` announcements having come.

    >>> from evercrawl.schedule.formulas.signals import signals
    >>> level(signals(1.0, 0.5, 0.5), [0.0, 2.0], [0, 1]).round(3)
    array([0.   , 1.693])
    """
    return np.asarray(of.silent * np.asarray(age_s, np.float64) + of.kappa * np.asarray(count, np.float64))


def worth(of: PageSignals, weight: ArrayLike, at: ArrayLike) -> Floats:
    """Return what a visit is worth at a level: V(y) = w (EF - e^-y ET).

    ET is the mean time until the level is reached, EF the mean time in it during which the copy is fresh.

    Parameters
    ----------
    of
        What announcements are like; something must be left unannounced, or never be quite certain.
    weight
        Importance w.
    at
        The level y, as `level` gives it; of any shape.

    Examples
    --------
    Where nothing is announced, it is the index of a known rate, h(y) w / lam:

    >>> from evercrawl.schedule.formulas.signals import signals
    >>> worth(signals(2.0, 0.0, 0.0), 1.0, [1.0]).round(6), round((1 - 2 / np.e) / 2, 6)
    (array([0.132121]), 0.132121)
    """
    y = np.minimum(np.asarray(at, np.float64), 40.0)
    passed, fresh = times(of, y)
    return np.asarray(weight) * np.maximum(fresh - np.exp(-y) * passed, 0.0)


def due_after_s(
    price: float,
    weight: ArrayLike,
    shape: ArrayLike,
    scale_s: ArrayLike,
    cost: ArrayLike = 1.0,
    cost_changed: ArrayLike = 0.0,
    harmonic: float = HARMONIC,
) -> Floats:
    """Return the age at which a visit is worth the price, by bisection; infinity where none is.

    Examples
    --------
    >>> age = due_after_s(0.5, 1.0, 0.4, 3.0)
    >>> index(1.0, 0.4, 3.0, age).round(12).item()
    0.5
    """
    columns = (weight, shape, scale_s, cost, cost_changed)
    w, a, b, c0, c1 = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in columns))
    low, high = np.full(w.shape, -70.0), np.full(w.shape, np.log(NEVER_S))
    for _ in range(80):
        middle = (low + high) / 2
        enough = index(w, a, b, np.exp(middle), c0, c1, harmonic) >= price
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    never = index(w, a, b, np.full(w.shape, NEVER_S), c0, c1, harmonic) < price
    return np.where(never, np.inf, np.exp((low + high) / 2))
