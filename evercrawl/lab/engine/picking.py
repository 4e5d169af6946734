"""Visit orders: the choice of the next page if only importance matters."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Final, Protocol

import numpy as np

from evercrawl.types import Floats, Ints

GREEDY: Final = -1
"""Stands for the page with most cash at the moment of the visit."""


class PickingView(Protocol):
    """The information available to an order."""

    @property
    def pages(self) -> int:
        """Number of pages."""
        ...

    def estimate(self) -> Floats:
        """Return the estimated importance of each page, shape (n,)."""
        ...


class Picker(ABC):
    """A visit order: the next visits, page by page."""

    greedy: ClassVar[bool] = False
    """Whether some visits are greedy."""

    @abstractmethod
    def next(self, visits: int, at: PickingView) -> Ints:
        """Return the pages of the next visits, shape (visits,); `GREEDY` for greedy ones."""


class GreedyPicker(Picker):
    """Always the page with the most cash."""

    greedy = True

    def next(self, visits: int, at: PickingView) -> Ints:
        """Return `GREEDY` for each visit."""
        return np.full(visits, GREEDY)


class RandomPicker(Picker):
    """A uniformly random page at each visit."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng((seed, 11))

    def next(self, visits: int, at: PickingView) -> Ints:
        """Return random pages, shape (visits,)."""
        return self._random.integers(at.pages, size=visits)


class CyclePicker(Picker):
    """All pages in turn, in a random order, repeatedly.

    Examples
    --------
    >>> class Three:
    ...     pages = 3
    >>> cycle = CyclePicker(seed=1)
    >>> picked = cycle.next(4, Three())
    >>> sorted(picked[:3].tolist()), bool(picked[3] == picked[0])
    ([0, 1, 2], True)
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._order = np.empty(0, np.int64)
        self._at = 0

    def next(self, visits: int, at: PickingView) -> Ints:
        """Return the next pages of the cycle."""
        if len(self._order) != at.pages:
            self._order = np.random.default_rng((self._seed, 13)).permutation(at.pages)
        places = (self._at + np.arange(visits)) % at.pages
        self._at = int(self._at + visits) % at.pages
        return self._order[places]


class Sampled(Picker):
    """Pages sampled in proportion to their estimated importance."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng((seed, 17))

    def next(self, visits: int, at: PickingView) -> Ints:
        """Return pages sampled by importance; uniformly while no page has any."""
        below: Floats = np.cumsum(np.maximum(at.estimate(), 0.0))
        if not below[-1] > 0:
            return self._random.integers(at.pages, size=visits)
        drawn: Floats = self._random.random(visits) * below[-1]
        return np.minimum(np.searchsorted(below, drawn, side="right"), at.pages - 1)


class Mixed(Picker):
    """A mixture of orders, by fixed shares.

    Parameters
    ----------
    parts
        Orders and the share of the visits of each.
    seed
        The random seed of the choice between the orders.
    """

    def __init__(self, parts: Sequence[tuple[Picker, float]], seed: int = 0) -> None:
        self._parts = parts
        self._random = np.random.default_rng((seed, 19))

    @property
    def greedy(self) -> bool:  # type: ignore[override]
        """Whether one of the orders is greedy."""
        return any(part.greedy for part, _ in self._parts)

    def next(self, visits: int, at: PickingView) -> Ints:
        """Return the visits of all orders, mixed."""
        shares = np.array([share for _, share in self._parts])
        whose = self._random.choice(len(shares), size=visits, p=shares / shares.sum())
        picked = np.empty(visits, np.int64)
        for number, (part, _) in enumerate(self._parts):
            picked[whose == number] = part.next(int((whose == number).sum()), at)
        return picked


def xyleme(seed: int = 0) -> Picker:
    """Return the mixture that starves no page: four greedy visits in five, and one in a cycle."""
    return Mixed([(GreedyPicker(), 0.8), (CyclePicker(seed), 0.2)], seed)


def fresh(seed: int = 0) -> Picker:
    """Return the mixture for webs that change: half in cycle order, half sampled by importance."""
    return Mixed([(CyclePicker(seed), 0.5), (Sampled(seed), 0.5)], seed)
