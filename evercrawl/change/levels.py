"""A robust mean of the levels of sites, which a minority of sites, or any number of free names, moves only little.

Each site has a vote, whose weight grows with its observations, up to 1. The result is the mean of the levels, each of
them limited to a distance of `SPAN` from the result itself, so that a distant site only pulls the result to its side.
All sites whose names cost nothing (for example below `github.io`) share one vote, for their mean level.

Votes are summed in bins by level, so that adding, removing or changing a vote, and computing the result, take constant
time and memory. The sums of several partitions can be added.

References
----------
Huber (1964). Robust Estimation of a Location Parameter.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evercrawl.types import Flags, Floats

SPAN: Final = math.log(3.0)
"""Greatest distance from the result, in ln lambda; levels further away count as if they were at it."""
MEAN: Final = 0.01
"""Relative weight of the plain mean, which makes the result unique where two halves of the votes disagree."""
TOGETHER: Final = 1.0
"""Greatest weight of the vote that sites share."""
_FIRST: Final = -12
_BINS: Final = 28  # each is 1 wide; the first and the last also have the levels beyond them
_NOTHING: Final = 1e-9  # smaller weights are rounding errors that removed votes leave
_SHARED: Final = "shared"


class Levels:
    """The votes of sites on their common level, as sums.

    Examples
    --------
    Of nine sites, two are far from the others:

    >>> levels = Levels()
    >>> for level in (2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, -9.0, -9.0):
    ...     levels.add(1.0, level, shared=False)
    >>> round(levels.mean(rest=0.0), 2)  # the plain mean is -0.06
    2.16

    A thousand more sites share a vote:

    >>> for _ in range(1000):
    ...     levels.add(1.0, -9.0, shared=True)
    >>> round(levels.mean(rest=0.0), 2)
    1.99
    """

    def __init__(self) -> None:
        self._weights, self._totals = [0.0] * _BINS, [0.0] * _BINS
        self._shared_weight = self._shared_total = 0.0

    @property
    def empty(self) -> bool:
        """Whether there are no votes."""
        return not any(self._weights) and not self._shared_weight

    def add(self, weight: float, total: float, *, shared: bool) -> None:
        """Add the vote of a site.

        Parameters
        ----------
        weight, total
            Weight of the vote, at least 0, and the weight times the level of the site.
        shared
            Whether the site shares one vote with all others that are shared.
        """
        self._move(1.0, weight, total, shared=shared)

    def remove(self, weight: float, total: float, *, shared: bool) -> None:
        """Remove a vote that was added; the parameters are those of `add`."""
        self._move(-1.0, weight, total, shared=shared)

    def _move(self, sign: float, weight: float, total: float, *, shared: bool) -> None:
        if not weight > 0.0:
            return
        if shared:
            self._shared_weight += sign * weight
            self._shared_total += sign * total
        else:
            place = _place(total / weight)
            self._weights[place] += sign * weight
            self._totals[place] += sign * total

    @classmethod
    def of_many(cls, weights: Floats, totals: Floats, shared: Flags) -> "Levels":
        """Return the votes of many sites, given as arrays of the parameters of `add`; shape (n,) each."""
        found = cls()
        some = weights > 0.0
        weights, totals, shared = weights[some], totals[some], shared[some]
        found._shared_weight, found._shared_total = float(weights[shared].sum()), float(totals[shared].sum())
        weights, totals = weights[~shared], totals[~shared]
        places = np.clip(np.floor(totals / weights) - _FIRST, 0, _BINS - 1).astype(np.int64)
        for sums, each in ((found._weights, weights), (found._totals, totals)):
            sums[:] = np.bincount(places, each, _BINS).tolist()
        return found

    @classmethod
    def from_sums(cls, sums: Mapping[str, float]) -> "Levels":
        """Return the votes with these `sums`, which may be totals of several partitions; other names are ignored."""
        found = cls()
        found._shared_weight, found._shared_total = (
            sums.get(f"{_SHARED}_weight", 0.0),
            sums.get(f"{_SHARED}_total", 0.0),
        )
        for i in range(_BINS):
            found._weights[i] = sums.get(f"level{i + _FIRST}_weight", 0.0)
            found._totals[i] = sums.get(f"level{i + _FIRST}_total", 0.0)
        return found

    def sums(self) -> dict[str, float]:
        """Return the sums by name, without those that are zero.

        >>> levels = Levels(); levels.add(0.5, 1.0, shared=False); levels.sums()
        {'level2_weight': 0.5, 'level2_total': 1.0}
        """
        found = dict[str, float]()
        bins = enumerate(zip(self._weights, self._totals, strict=True), _FIRST)
        for name, (weight, total) in (
            *((f"level{i}", sums) for i, sums in bins),
            (_SHARED, (self._shared_weight, self._shared_total)),
        ):
            if weight > _NOTHING:
                found |= {f"{name}_weight": weight, f"{name}_total": total}
        return found

    def plus(self, other: "Levels") -> "Levels":
        """Return the votes of both."""
        return self._with(other, 1.0)

    def _with(self, other: "Levels", sign: float) -> "Levels":
        found = Levels()
        found._weights = [a + sign * b for a, b in zip(self._weights, other._weights, strict=True)]
        found._totals = [a + sign * b for a, b in zip(self._totals, other._totals, strict=True)]
        found._shared_weight = self._shared_weight + sign * other._shared_weight
        found._shared_total = self._shared_total + sign * other._shared_total
        return found

    def minus(self, other: "Levels") -> "Levels":
        """Return these votes without those of `other`, which they must contain."""
        return self._with(other, -1.0)

    def mean(self, rest: float) -> float:
        """Return the limited mean of all votes, shrunk towards 0 as by `rest` further votes; 0 without votes."""
        weights, totals = self._weights, self._totals
        if self._shared_weight > _NOTHING:
            level, weight = self._shared_total / self._shared_weight, min(self._shared_weight, TOGETHER)
            weights, totals, place = weights.copy(), totals.copy(), _place(level)
            weights[place] += weight
            totals[place] += weight * level
        votes = [(total / weight, weight) for weight, total in zip(weights, totals, strict=True) if weight > _NOTHING]
        if not votes:
            return 0.0
        whole = sum(weight for _, weight in votes)
        return _limited_mean(votes, whole) * whole / (whole + rest)


def _limited_mean(votes: Sequence[tuple[float, float]], whole: float) -> float:
    """Return the mean of levels with weights, each limited to `SPAN` around the result.

    The result is the root of a falling, piecewise linear function: the total pull of all levels on a candidate. The
    function is followed from its first bend, where all levels are above, to the bend after which it is negative.

    >>> round(_limited_mean([(0.0, 3.0), (0.5, 1.0)], 4.0), 9)
    0.125
    """
    pull = MEAN * whole
    mean = sum(level * weight for level, weight in votes) / whole
    bends = sorted(
        [(level - SPAN, weight) for level, weight in votes] + [(level + SPAN, -weight) for level, weight in votes]
    )
    at, slope = bends[0][0], pull
    excess = SPAN * whole + pull * (mean - at)
    for bend, weight in bends:
        after = excess - slope * (bend - at)
        if after <= 0.0:
            break
        at, excess, slope = bend, after, slope + weight
    return at + excess / max(slope, pull)


def _place(level: float) -> int:
    return min(max(math.floor(level) - _FIRST, 0), _BINS - 1)
