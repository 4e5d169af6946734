"""Gaps between a page's changes, also if these are known only from visits.

Also a test for exponentially distributed gaps with unknown mean.
"""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.change.estimators.irregular import most_likely
from evercrawl.lab.histories.evolution.changed import RecordedChanges
from evercrawl.types import Floats, Ints

CRITICAL: Final = 1.321
"""The critical value of `anderson_darling` at the 5 % level, for exponential gaps."""
_LEAST: Final = 0.5  # minimum gap in seconds: times are whole seconds


def anderson_darling(page: Ints, gaps_s: Floats, pages: int) -> Floats:
    """Return the statistic A^2 (1 + 0.6 / n) of each page's gaps, against an exponential distribution with their mean.

    The mean is estimated from the same gaps, so the usual tables of the statistic do not apply; `CRITICAL` is for this
    case.

    Parameters
    ----------
    page, gaps_s
        Page and length of each gap; shape (n,).
    pages
        Number of pages.

    Returns
    -------
    array
        Shape (pages,), nan for pages without gaps.

    Examples
    --------
    Gaps of a clock, and gaps at the quantiles of the exponential distribution:

    >>> clock, even = np.full(9, 3600.0), -3600 * np.log1p(-(np.arange(9) + 0.5) / 9)
    >>> anderson_darling(np.repeat([0, 1], 9), np.concatenate([clock, even]), 2).round(3)
    array([4.403, 0.095])

    References
    ----------
    Stephens (1986). Tests based on EDF statistics, section 4.9 and table 4.14, in D'Agostino, Stephens,
    Goodness-of-fit techniques. Lilliefors (1969) was the first to say that the estimated mean matters.
    """
    order = np.lexsort((gaps_s, page))
    page, gaps_s = page[order], np.maximum(gaps_s[order], _LEAST)
    n = np.bincount(page, minlength=pages).astype(np.float64)
    told = np.maximum(n, 1.0)
    z = gaps_s / (np.bincount(page, gaps_s, pages) / told)[page]
    rank = np.arange(len(page)) - (np.cumsum(n) - n)[page] + 1.0
    summand = (2.0 * rank - 1.0) * np.log(-np.expm1(-z)) - (2.0 * (n[page] - rank) + 1.0) * z
    squared = -n - np.bincount(page, summand, pages) / told
    return np.where(n > 0, squared * (1.0 + 0.6 / told), np.nan)


class Gaps(NamedTuple):
    """Gaps between changes, shape (n,) each.

    Attributes
    ----------
    page
        Index of the page among those with gaps, in the order of their numbers.
    quiet_s
        Time from the visit that found the first change to the last visit that found the page still in that state.
    gap_s
        Time from the visit that found the first change to the second change.
    """

    page: Ints
    quiet_s: Floats
    gap_s: Floats


def gaps(changes: RecordedChanges, seed: int = 0) -> Gaps:
    """Return the gaps between changes within one life of a page; changes at one instant count as one.

    For visited pages it is known only between which two visits a change was made. If pages change at random moments,
    the time from the discovery of a change to the next change is exponential, whatever came before. Its end between two
    visits is therefore drawn from this distribution, with the page's most likely rate. Pages that change at random thus
    appear random however rarely they are visited, and bursts between two visits remain unseen.

    Parameters
    ----------
    changes
        The changes, by page and time.
    seed
        The random seed of these draws.
    """
    quiet_s = np.diff(changes.found_at) - changes.unseen_s[1:]
    unseen_s = changes.unseen_s[1:]
    within = (np.diff(changes.life) == 0) & (quiet_s + unseen_s > 0)
    quiet_s, unseen_s = np.maximum(quiet_s[within], 0.0), unseen_s[within]
    pages, page = np.unique(changes.page[1:][within], return_inverse=True)
    hidden = unseen_s > 0
    if not hidden.any():
        return Gaps(page, quiet_s, quiet_s)
    quiet = np.asarray(np.bincount(page, quiet_s, len(pages)), np.float64)
    rate = most_likely(len(pages), page[hidden], unseen_s[hidden], quiet)
    drawn_s = _drawn_s(rate[page], unseen_s, np.random.default_rng(seed).random(len(page)))
    return Gaps(page, quiet_s, quiet_s + drawn_s)


def _drawn_s(rate: Floats, within_s: Floats, u: Floats) -> Floats:
    """Return the time of a change within a period that has one: truncated exponential, or uniform without a rate."""
    told = np.isfinite(rate) & (rate > 0) & (within_s > 0)
    rate = np.where(told, rate, 1.0)
    return np.where(told, -np.log1p(u * np.expm1(-rate * within_s)) / rate, u * within_s)
