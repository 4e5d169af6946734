"""The fit of the matrix, thresholds and periods of RPUC's types, which the paper leaves open; the method is ours.

The optimal visit rate of each page follows from its weight and rate of change. Three steps alternate, starting from
optimal rates at steps of a factor of four: each page is assigned to the type whose rate serves it best; the matrix is
fitted to predict the type from the page's vector; and the periods are optimised for the resulting types.

References
----------
Carney, Lee, Zdonik (2003), for allocation to groups. Lloyd (1982), for alternation. Fisher (1936), for discriminants.
"""

from typing import Final

import numpy as np

from evercrawl.schedule.formulas.allocation import optimum
from evercrawl.schedule.formulas.objectives import freshness, h
from evercrawl.schedule.policies.rpuc.types import Types, components, queue
from evercrawl.types import Floats, Ints

TURNS: Final = 4
LADDER: Final = 4.0
"""Initial ratio of the visit rates of two successive types."""
FLOOR: Final = 0.05
"""Minimum visit rate of a type, as a fraction of the mean: no page is abandoned."""
_ALIKE: Final = 0.1  # pages whose ln lambda differ by less than this are treated as equal
_GRID: Final = np.geomspace(0.02, 2000.0, 64)  # candidate visit rates of types, in units of the mean
_PRICES: Final = 400


def fit(scaled: Floats, weight: Floats, rate_per_s: Floats, budget_per_s: float, types: int) -> Types:
    """Return the types for pages with known vectors, the fastest type first.

    Parameters
    ----------
    scaled
        Vectors, shape (n, 4).
    weight, rate_per_s
        Weight and rate of change of each page, shape (n,), all above 0.
    budget_per_s
        Visits per second to these pages.
    types
        Number of types.

    Examples
    --------
    Half of the pages have a hundred times the weight at the same rate of change: importance separates the types.

    >>> weight = np.array([1.0, 100.0] * 50)
    >>> scaled = np.zeros((100, 4))
    >>> scaled[:, 1] = np.log(weight)
    >>> found = fit(scaled, weight, np.ones(100), budget_per_s=100.0, types=2)
    >>> (found.periods_s[0] < 1.0 < found.periods_s[1]).item(), found.matrix[0].argmax().item()
    (True, 1)
    """
    mean = budget_per_s / len(weight)
    ladder = mean * LADDER ** (types / 2 - 1.0 - np.arange(types - 1))
    labels = (optimum(weight, rate_per_s, budget_per_s).rate[:, None] < ladder).sum(1)
    best, worth = None, -np.inf
    for _ in range(TURNS):
        matrix, thresholds = discriminants(scaled, labels, types)
        scores = components(matrix, scaled)
        order = queue(scores, thresholds, np.arange(types, dtype=np.float64))
        rates, price = group_rates(weight, rate_per_s, order, types, budget_per_s)
        served = rates[queue(scores, thresholds, 1.0 / rates)]
        total = float((weight * freshness(served, rate_per_s)).sum())
        if total > worth:
            best, worth = Types(matrix, thresholds, 1.0 / rates), total
        fastest = np.sort(rates)[::-1]
        labels = np.stack([weight * freshness(f, rate_per_s) - price * f for f in fastest], axis=-1).argmax(axis=-1)
    assert best is not None, "the loop ran at least once"
    return best


def discriminants(scaled: Floats, labels: Ints, types: int) -> tuple[Floats, Floats]:
    """Return W and thresholds by which the intended numbers of pages belong to each type or a faster one.

    Row k is the least-squares fit to whether a page is of type k or a faster one. The last type has all pages.
    """
    centred = scaled - scaled.mean(0)
    squares = centred.T @ centred
    matrix, thresholds = np.zeros((types, scaled.shape[1])), np.full(types, np.inf)
    thresholds[-1] = 0.0
    for k in range(types - 1):
        wanted = labels <= k
        count = int(wanted.sum())
        if not count:
            continue
        matrix[k] = np.linalg.lstsq(squares, centred.T @ wanted, rcond=1e-9)[0]
        scores = components(matrix, scaled)[:, k]
        thresholds[k] = np.partition(scores, len(scores) - count)[len(scores) - count]
    return matrix, thresholds


def group_rates(
    weight: Floats, rate_per_s: Floats, group: Ints, groups: int, budget_per_s: float
) -> tuple[Floats, float]:
    """Return the best visit rates if all pages of a group share a rate, shape (groups,); and the price of a visit.

    Pages whose rates of change differ by at most a tenth are treated as equal. Each rate is at least `FLOOR` times the
    mean.

    Examples
    --------
    >>> rates, _ = group_rates(np.ones(4), np.array([1.0, 1.0, 2.0, 2.0]), np.array([0, 0, 1, 1]), 2, 4.0)
    >>> optimum([1.0, 1.0], [1.0, 2.0], 2.0).rate.round(2), rates.round(2)
    (array([0.95, 1.05]), array([0.95, 1.05]))
    """
    mean = budget_per_s / len(weight)
    sizes, grid = np.bincount(group, minlength=groups), mean * _GRID
    alike = np.rint(np.log(rate_per_s) / _ALIKE).astype(np.int64)
    first, kinds = int(alike.min()), int(np.ptp(alike)) + 1
    slow = np.exp(_ALIKE * np.arange(first, first + kinds))[:, None]
    weights = np.bincount(group * kinds + alike - first, weight, groups * kinds).reshape(groups, kinds)
    marginal = weights @ (h(slow / grid) / slow) / np.maximum(sizes, 1)[:, None]
    logs = -np.log(np.maximum(marginal, 1e-300))  # of the marginal value of a visit per second; falls with the rate
    prices = np.linspace(float(logs.min()), float(logs[sizes > 0].max()), _PRICES)
    rates = np.stack([np.exp(np.interp(prices, log, np.log(grid))) for log in logs])
    rates = np.maximum(rates, FLOOR * mean)
    at = float(np.interp(budget_per_s, sizes @ rates, prices))
    near = min(int(np.searchsorted(prices, at)), _PRICES - 1)
    part = (prices[near] - at) / (prices[1] - prices[0])
    found: Floats = rates[:, near] * (1.0 - part) + rates[:, max(near - 1, 0)] * part
    return found, float(np.exp(-at))
