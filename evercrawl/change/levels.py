"""The usual level of sites, which a minority of them, or any number of free names, moves only little.

Every site has a vote, whose weight grows with its observations, up to 1. Votes are summed in bins of their level. The
result is the mean of the levels, each of them limited to `SPAN` around the result itself: sites far from it only say on
which side they are. All sites whose names cost nothing (below `github.io`, for example) have one vote together, for
their mean. A vote, a change of a vote and the result take constant time and memory, and votes of partitions can be
added.

References
----------
Huber (1964). Robust estimation of a location parameter.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evercrawl.types import Flags, Floats

SPAN: Final = math.log(3.0)
"""Greatest difference from the result that counts."""
MEAN: Final = 0.01
"""Weight of the mean of all, without limits; it decides where two halves disagree."""
TOGETHER: Final = 1.0
"""Greatest weight of all sites that share a vote."""
_FIRST: Final = -12
_BINS: Final = 28  # each is 1 wide; the first and last also have what lies beyond
_NOTHING: Final = 1e-9  # weights below are what rounding leaves of removed votes
_SHARED: Final = "shared"


class Levels:
    """The votes of sites for a level, as sums.

    Examples
    --------
    Of nine sites, two are far from the others:

    >>> levels = Levels()
    >>> for level in (2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, -9.0, -9.0):
    ...     levels.add(1.0, level, shared=False)
    >>> round(levels.mean(rest=0.0), 2)  # it was -0.06 without a limit
    2.16

    A thousand that share a vote:

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
            Its weight, at least 0; and that times its level.
        shared
            Whether it shares a vote with all others that do.
        """
        self._move(1.0, weight, total, shared=shared)

    def remove(self, weight: float, total: float, *, shared: bool) -> None:
        """Remove a vote that was added."""
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
        """Return the votes of many sites; shape (n,) each."""
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
        """Return the votes whose `sums` these are, or are the totals of several; other names are skipped."""
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
        """Return the sums that are not zero, by name.

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
        """Return the votes without those of another, which are among them."""
        return self._with(other, -1.0)

    def mean(self, rest: float) -> float:
        """Return the level: the limited mean of all votes, and of `rest` votes for 0."""
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

    It is the root of a falling function that is linear between its bends: followed from its first bend, where all
    levels are above, to the one behind which it is negative.

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
