"""Whole numbers of visits to each page within a horizon: the best split of a given number of visits.

x visits to a page, evenly spaced in a horizon of length T that is then repeated, keep it fresh for F(x / T, lam) of the
time. The gain of one more visit never grows with x, so giving each visit to the page that gains most is exact.

References
----------
Wolf, Squillante, Yu, Sethuraman, Ozsen (2002). Optimal crawling strategies for web search engines. Fox (1966). Discrete
optimization via marginal analysis.
"""

import heapq
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.formulas.renewal import RenewalLaw
from evercrawl.types import Floats, Ints

SPLITS: Final = ("price", "greedy", "dynamic")
"""Methods of splitting visits; see `split`."""
HEAP_VISITS: Final = 20_000
"""Number of visits that the heap assigns one by one in about a second; it is not used for more."""
_TABLE_CELLS: Final = 1e8  # number of cells that the dynamic programme fills in the same time
_HALVINGS: Final = 60
_CLOSE: Final = 1e-12
_WIDTH: Final = 1e-3  # distance of the first prices from that of the continuous optimum, in logarithms


class HorizonCounts(NamedTuple):
    """The visits of each page in the horizon, shape (n,), and their total worth."""

    each: Ints
    value: float


def fits(how: str, pages: int, visits: int) -> bool:
    """Return whether a method can split this many visits among this many pages in about a second.

    >>> fits("price", 10**9, 10**10), fits("greedy", 10, 20_001), fits("dynamic", 100, 1000)
    (True, False, True)
    """
    if how == "dynamic":
        return pages * visits**2 <= _TABLE_CELLS
    return how != "greedy" or visits <= HEAP_VISITS


def split(how: str, weight: ArrayLike, lam: ArrayLike, horizon: float, visits: int) -> HorizonCounts:
    """Return the best whole numbers of visits, by one of three methods that agree up to ties.

    Parameters
    ----------
    how
        "price", for any number of pages; "greedy", the heap, up to 20,000 visits; or "dynamic", the dynamic programme,
        up to n visits^2 = 1e8. Above these sizes "price" is used in all cases.
    weight, lam, horizon, visits
        As for `greedy`.

    Examples
    --------
    >>> [split(how, [1.0, 2.0, 3.0], [1.0, 0.2, 4.0], 1.0, 5).each.tolist() for how in SPLITS]
    [[1, 1, 3], [1, 1, 3], [1, 1, 3]]
    """
    weight, lam = np.asarray(weight, np.float64), np.asarray(lam, np.float64)
    if not fits(how, len(weight), visits):
        how = "price"
    if how == "dynamic":
        return dynamic(worth(weight[:, None], lam[:, None], horizon, np.arange(visits + 1)), visits)
    found = greedy if how == "greedy" else by_price
    return found(weight, lam, horizon, visits)


def worth(weight: ArrayLike, lam: ArrayLike, horizon: float, count: ArrayLike) -> Floats:
    """Return w F(x / T, lam), the worth of x visits to a page in the horizon T.

    Examples
    --------
    >>> worth(2.0, 1.0, 1.0, [0, 1, 2]).round(6)
    array([0.      , 1.264241, 1.573877])
    """
    return np.asarray(weight) * allocation.freshness(np.asarray(count) / horizon, lam)


def greedy(weight: ArrayLike, lam: ArrayLike, horizon: float, visits: int) -> HorizonCounts:
    """Return the best whole numbers of visits, by a heap of the gains of one more visit to each page.

    Examples
    --------
    >>> found = greedy([1.0, 2.0, 3.0], [1.0, 0.2, 4.0], 1.0, 5)
    >>> found.each, round(found.value, 6)
    (array([1, 1, 3]), 4.101719)
    """
    weight, lam = np.asarray(weight, np.float64), np.asarray(lam, np.float64)
    count = np.zeros(len(weight), np.int64)
    heap = [(-float(gain), page) for page, gain in enumerate(_gain(weight, lam, horizon, count + 1))]
    heapq.heapify(heap)
    for _ in range(visits):
        page = heap[0][1]
        count[page] += 1
        more = _gain(weight[page], lam[page], horizon, np.asarray(count[page] + 1))
        heapq.heapreplace(heap, (-float(more), page))
    return HorizonCounts(count, float(worth(weight, lam, horizon, count).sum()))


def by_price(weight: ArrayLike, lam: ArrayLike, horizon: float, visits: int) -> HorizonCounts:
    """Return the result of `greedy` (up to ties), for many pages at once.

    Of two prices near that of the continuous optimum, one takes too many visits and the other too few; the best of the
    visits by which the two differ are added.

    Examples
    --------
    >>> by_price([1.0, 2.0, 3.0], [1.0, 0.2, 4.0], 1.0, 5).each
    array([1, 1, 3])
    """
    weight, lam = np.asarray(weight, np.float64), np.asarray(lam, np.float64)
    price = allocation.optimum(weight, lam, max(visits, 1) / horizon).price / horizon
    few, many, wide = _worth_it(weight, lam, horizon, price), None, _WIDTH
    if few.sum() < visits:
        low = price
        while many is None or many.sum() < visits:
            low, wide = low * np.exp(-wide), 2 * wide
            few, many = few if many is None else many, _worth_it(weight, lam, horizon, low)
    else:
        many, high = few, price
        while few.sum() > visits:
            high, wide = high * np.exp(wide), 2 * wide
            many, few = few, _worth_it(weight, lam, horizon, high)
    page = np.repeat(np.arange(len(few)), many - few)
    nth = np.arange(len(page)) - np.repeat(np.cumsum(many - few) - (many - few), many - few)
    added = _gain(weight[page], lam[page], horizon, few[page] + nth + 1)
    taken = page[np.argsort(-added, kind="stable")[: visits - int(few.sum())]]
    count = few + np.bincount(taken, minlength=len(few))
    return HorizonCounts(count, float(worth(weight, lam, horizon, count).sum()))


def by_law(weight: ArrayLike, lam: ArrayLike, horizon: float, visits: int, law: RenewalLaw) -> HorizonCounts:
    """Return the best whole numbers of visits to pages whose changes are a renewal process with any law.

    x visits are worth w F(x / T, lam) with the law's F, whose gains never grow with x. So there is a price of a visit
    such that all visits with a larger gain are made.

    Examples
    --------
    The result is that of `greedy` if the law is exponential; with constant intervals between changes, gains are equal:

    >>> from evercrawl.schedule.formulas.renewal import renewal_law
    >>> for name in ("exponential", "constant"):
    ...     found = by_law([1.0, 2.0, 3.0], [1.0, 0.2, 4.0], 1.0, 5, renewal_law(name))
    ...     found.each.tolist(), round(found.value, 6)
    ([1, 1, 3], 4.101719)
    ([1, 1, 3], 3.425)
    """
    weight, lam = np.asarray(weight, np.float64), np.asarray(lam, np.float64)

    def worth_of(count: Ints) -> Floats:
        return weight * law.freshness(count / horizon, lam)

    def bought(price: float) -> Ints:
        """Return how many visits of each page gain at least the price, by bisection, as gains decrease."""
        low, high = np.zeros(len(weight), np.int64), np.full(len(weight), visits, np.int64)
        while (low < high).any():
            middle = (low + high + 1) // 2
            enough = worth_of(middle) - worth_of(middle - 1) >= price
            low, high = np.where(enough, middle, low), np.where(enough, high, middle - 1)
        return low

    dear, cheap = float(weight.max(initial=0.0)), 0.0
    few, many = bought(dear), bought(cheap)
    for _ in range(_HALVINGS):
        if few.sum() == visits or dear - cheap <= _CLOSE * dear:
            break
        price = 0.5 * (dear + cheap)
        found = bought(price)
        if found.sum() <= visits:
            dear, few = price, found
        else:
            cheap, many = price, found
    left = visits - int(few.sum())
    page = np.repeat(np.arange(len(few)), many - few)  # all visits in the difference have gains near the price
    count = few + np.bincount(page[:left], minlength=len(few))
    return HorizonCounts(count, float(worth_of(count).sum()))


def _worth_it(weight: Floats, lam: Floats, horizon: float, price: float) -> Ints:
    """Return how many visits of each page gain at least `price` each."""
    near = allocation.rates_at(price * horizon, weight, lam) * horizon + 0.5  # gain of visit x is about the slope there
    count = np.minimum(near, 2.0**60).astype(np.int64)
    while (more := _gain(weight, lam, horizon, count + 1) >= price).any():
        count += more
    while (less := (count > 0) & (_gain(weight, lam, horizon, np.maximum(count, 1)) < price)).any():
        count -= less
    return count


def _gain(weight: ArrayLike, lam: ArrayLike, horizon: float, count: Ints) -> Floats:
    """Return the gain of the `count`-th visit to each page."""
    return worth(weight, lam, horizon, count) - worth(weight, lam, horizon, count - 1)


def dynamic(values: Floats, visits: int) -> HorizonCounts:
    """Return the best whole numbers of visits for any values: page by page, O(n visits^2).

    Parameters
    ----------
    values
        Worth of 0, 1, ... visits to each page, shape (n, most + 1), of any form.
    visits
        Number of visits to split.

    Examples
    --------
    One visit to the second page is worth little, two are worth much; the greedy method would miss this.

    >>> dynamic(np.array([[0.0, 2.0, 3.0], [0.0, 1.0, 9.0]]), 2)
    HorizonCounts(each=array([0, 2]), value=9.0)
    """
    best = np.full(visits + 1, -np.inf)
    best[0] = 0.0
    choices: list[Ints] = []
    for of_page in values:
        most = min(len(of_page) - 1, visits)
        totals = np.full((most + 1, visits + 1), -np.inf)
        for count in range(most + 1):
            totals[count, count:] = best[: visits + 1 - count] + of_page[count]
        choices.append(totals.argmax(0))
        best = totals.max(0)
    left = int(best.argmax())
    value, each = float(best[left]), np.zeros(len(values), np.int64)
    for page in range(len(values) - 1, -1, -1):
        each[page] = choices[page][left]
        left -= int(each[page])
    return HorizonCounts(each, value)
