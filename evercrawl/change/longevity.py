"""Whether new content of a page lasts: lasting content is worth a visit, flickering content is not.

An advertisement or a quotation of the day differs at each visit; an article stays. A visit that retrieves content that
will be gone at the next visit is of no use. Some pages alternate between a few versions: at most the first of these
changes was new.

References
----------
Olston, Pandey (2008). Recrawl scheduling based on information longevity: lasting content, churning content, and the
divergence D of a copy by its age. Kaplan, Meier (1958). Nonparametric estimation from incomplete observations.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from evercrawl.change.extent import replaced
from evercrawl.types import Floats, Ints, Keys

_NONE: Final = np.zeros(0, np.uint64)


def lasting(before: Keys, after: Keys, later: Keys) -> float:
    """Return the fraction of a page that was new, and still there at the next visit: the worth of a change, 0 to 1.

    Parameters
    ----------
    before, after, later
        The page's runs of words (see `shingles`) at three visits.

    Examples
    --------
    Two of four runs were new; one of them lasted:

    >>> runs = [np.array(of, np.uint64) for of in ([1, 2, 3, 4], [1, 2, 5, 6], [1, 2, 5, 9])]
    >>> lasting(*runs)
    0.25
    """
    if not len(after):
        return 0.0
    new = np.setdiff1d(after, before, assume_unique=True)
    return len(np.intersect1d(new, later, assume_unique=True)) / len(after)


def flip_flops(versions: Sequence[Keys]) -> int:
    """Return how many versions of a page returned it to one before the last.

    >>> one, other = np.array([1, 2], np.uint64), np.array([1, 3], np.uint64)
    >>> flip_flops([one, other, one, other, np.array([4], np.uint64)])
    2
    """
    before, returned = {each.tobytes() for each in versions[:1]}, 0
    for each in versions[1:]:
        returned += each.tobytes() in before
        before.add(each.tobytes())
    return returned


def divergence(at: Floats, versions: Sequence[Keys], ages_s: Floats) -> Floats:
    """Return D: the mean over time of the fraction of a page that differs from a copy of each age, shape (k,).

    Parameters
    ----------
    at
        When each version was first seen, in ascending order, shape (n,).
    versions
        The runs of words of each version.
    ages_s
        Ages of a copy, at most the whole time, shape (k,).

    Examples
    --------
    Half of the page changes after 10 s, and the record continues until 20 s:

    >>> runs = [np.array(of, np.uint64) for of in ([1, 2], [1, 3], [1, 3])]
    >>> divergence(np.array([0.0, 10.0, 20.0]), runs, np.array([0.0, 5.0, 10.0]))
    array([0.        , 0.16666667, 0.5       ])
    """
    apart = _Apart(versions)
    found = np.zeros(len(ages_s))
    for i, age_s in enumerate(ages_s.tolist()):
        last = at[-1] - age_s
        cuts = np.unique(np.concatenate([at, at - age_s]))
        cuts = np.append(cuts[(cuts >= at[0]) & (cuts < last)], last)
        middles, lengths = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
        copy, page = (np.searchsorted(at, when, "right") - 1 for when in (middles, middles + age_s))
        if len(lengths) and lengths.sum() > 0:
            found[i] = float((apart.of(copy, page) * lengths).sum() / lengths.sum())
        else:
            now = np.searchsorted(at, np.array([at[0] + age_s]), "right") - 1
            found[i] = apart.of(np.zeros(1, np.int64), now)[0]
    return found


class _Apart:
    """Fractions by which versions differ from earlier versions, computed on demand and cached."""

    def __init__(self, versions: Sequence[Keys]) -> None:
        self._versions = versions
        self._known: dict[tuple[int, int], float] = {}

    def of(self, copy: Ints, page: Ints) -> Floats:
        """Return the fractions for some pairs, shape (n,)."""
        return np.array([self._pair(*pair) for pair in zip(copy.tolist(), page.tolist(), strict=True)])

    def _pair(self, copy: int, page: int) -> float:
        if (copy, page) not in self._known:
            self._known[copy, page] = replaced(self._versions[copy], self._versions[page])
        return self._known[copy, page]


class Lifetimes:
    """Lifetimes of the runs of words of one page, learned version by version.

    Runs of the first version have an unknown start, so they carry no information about lifetimes; nor do runs that come
    back after an absence, which `returned` counts. All runs ever seen are remembered.

    Attributes
    ----------
    appeared, returned
        Number of runs that came with a later version for the first time; number of runs that came back.

    Examples
    --------
    Of two new runs one was gone 5 s later; the other is still there:

    >>> lives = Lifetimes()
    >>> for at, runs in ((0.0, [1, 2]), (10.0, [1, 3, 4]), (15.0, [1, 4])):
    ...     lives.learn(at, np.array(runs, np.uint64))
    >>> lives.survival(np.array([1.0, 5.0]))
    array([1. , 0.5])
    """

    def __init__(self) -> None:
        self.appeared = self.returned = 0
        self._now: Keys = _NONE
        self._since: Floats = np.zeros(0)  # by run of the last version; nan for an unknown start
        self._known: Keys = _NONE
        self._ended_s: list[Floats] = []
        self._at = 0.0
        self._versions = 0

    def learn(self, at: float, runs: Keys) -> None:
        """Learn a version: its runs of words, in ascending order without duplicates, and when it was seen."""
        stayed, here, there = np.intersect1d(self._now, runs, assume_unique=True, return_indices=True)
        del stayed
        gone = np.ones(len(self._now), np.bool_)
        gone[here] = False
        lived_s = at - self._since[gone]
        self._ended_s.append(lived_s[~np.isnan(lived_s)])
        since = np.full(len(runs), at if self._versions else np.nan)
        came = np.ones(len(runs), np.bool_)
        came[there] = False
        again = came & np.isin(runs, self._known, assume_unique=True)
        since[there], since[again] = self._since[here], np.nan
        if self._versions:
            self.returned += int(again.sum())
            self.appeared += int((came & ~again).sum())
        self._known = np.union1d(self._known, runs)
        self._now, self._since, self._at = runs, since, at
        self._versions += 1

    @property
    def flickering(self) -> float:
        """The share of the runs of later versions that had been there before; nan without such runs."""
        came = self.appeared + self.returned
        return self.returned / came if came else float("nan")

    def spans_s(self) -> tuple[Floats, Floats]:
        """Return the lifetimes of the runs that appeared: of ended ones, and of those still in the last version."""
        return np.concatenate([*self._ended_s, np.zeros(0)]), self._at - self._since[~np.isnan(self._since)]

    def survival(self, ages_s: Floats) -> Floats:
        """Return the fraction of new runs that survive each time, by Kaplan and Meier's estimator, shape (k,)."""
        ended_s, going_on_s = self.spans_s()
        spans_s = np.unique(ended_s)
        every = np.concatenate([ended_s, going_on_s])
        at_risk = np.array([(every >= span).sum() for span in spans_s.tolist()], np.float64)
        ends = np.array([(ended_s == span).sum() for span in spans_s.tolist()], np.float64)
        shares = np.concatenate([[1.0], np.cumprod(1.0 - ends / at_risk)])
        return np.asarray(shares[np.searchsorted(spans_s, ages_s, "right")])
