"""Whether what is new on a page stays: content that lasts is worth a visit, content that flickers is not.

An advertisement or a quotation of the day is another at each look; an article is there for good. A visit that brings in
what will be gone at the next serves nobody. And some pages go to and fro between a few states: at most the first of
these changes was new.

References
----------
Olston, Pandey (2008). Recrawl scheduling based on information longevity: content that lasts, content that churns, and
the divergence D of a copy by its age. Kaplan, Meier (1958). Nonparametric estimation from incomplete observations.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from evercrawl.change.extent import replaced
from evercrawl.types import Floats, Ints, Keys

_NONE: Final = np.zeros(0, np.uint64)


def lasting(before: Keys, after: Keys, later: Keys) -> float:
    """Return which part of a page was new, and still there when it was seen again: what the change was worth, 0 to 1.

    Parameters
    ----------
    before, after, later
        The page's runs of words (see `shingles`) at three visits.

    Examples
    --------
    Two of four runs were new, of which one lasted:

    >>> runs = [np.array(of, np.uint64) for of in ([1, 2, 3, 4], [1, 2, 5, 6], [1, 2, 5, 9])]
    >>> lasting(*runs)
    0.25
    """
    if not len(after):
        return 0.0
    new = np.setdiff1d(after, before, assume_unique=True)
    return len(np.intersect1d(new, later, assume_unique=True)) / len(after)


def flip_flops(versions: Sequence[Keys]) -> int:
    """Return how many versions of a page, in their order, brought it back to one before the last.

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
    """Return D: how much of a page is other than in a copy of each age, as a mean over time, shape (k,).

    Parameters
    ----------
    at
        When each version was first seen, in ascending order, shape (n,).
    versions
        The runs of words of each.
    ages_s
        Ages of a copy, not longer than the whole time, shape (k,).

    Examples
    --------
    Half of it changes after 10 s, and the record goes on until then:

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
    """How much of versions is other than in versions before: of those pairs that are asked for, once each."""

    def __init__(self, versions: Sequence[Keys]) -> None:
        self._versions = versions
        self._known: dict[tuple[int, int], float] = {}

    def of(self, copy: Ints, page: Ints) -> Floats:
        """Return it of some pairs, shape (n,)."""
        return np.array([self._pair(*pair) for pair in zip(copy.tolist(), page.tolist(), strict=True)])

    def _pair(self, copy: int, page: int) -> float:
        if (copy, page) not in self._known:
            self._known[copy, page] = replaced(self._versions[copy], self._versions[page])
        return self._known[copy, page]


class Lifetimes:
    """How long each run of words of one page was there, version by version.

    Of what is there at first nobody knows since when, so it says nothing of lifetimes; nor does a run that comes back
    after it was gone, which `returned` counts. All runs there ever were are remembered.

    Attributes
    ----------
    appeared, returned
        Runs that came with a later version and were never there before; runs that came back.

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
        self._since: Floats = np.zeros(0)  # by run of the last version; nan where the beginning is not known
        self._known: Keys = _NONE
        self._ended_s: list[Floats] = []
        self._at = 0.0
        self._versions = 0

    def learn(self, at: float, runs: Keys) -> None:
        """Take in a version: its runs of words, in ascending order, each once, and when it was seen."""
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
        """Share of what came with later versions that had been there before; nan where nothing came."""
        came = self.appeared + self.returned
        return self.returned / came if came else float("nan")

    def spans_s(self) -> tuple[Floats, Floats]:
        """Return how long the runs that appeared were there: those that went, and those of the last version."""
        return np.concatenate([*self._ended_s, np.zeros(0)]), self._at - self._since[~np.isnan(self._since)]

    def survival(self, ages_s: Floats) -> Floats:
        """Return which part of what appears is still there after each time, by Kaplan and Meier's rule, shape (k,)."""
        ended_s, going_on_s = self.spans_s()
        spans_s = np.unique(ended_s)
        every = np.concatenate([ended_s, going_on_s])
        at_risk = np.array([(every >= span).sum() for span in spans_s.tolist()], np.float64)
        ends = np.array([(ended_s == span).sum() for span in spans_s.tolist()], np.float64)
        shares = np.concatenate([[1.0], np.cumprod(1.0 - ends / at_risk)])
        return np.asarray(shares[np.searchsorted(spans_s, ages_s, "right")])
