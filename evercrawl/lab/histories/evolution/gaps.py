"""Gaps between a page's changes, even if these are known from visits only.

Also a test for exponentially distributed gaps with unknown mean.
"""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.change.estimators.irregular import most_likely
from evercrawl.lab.histories.evolution.changed import RecordedChanges
from evercrawl.types import Floats, Ints

CRITICAL: Final = 1.321
"""What `anderson_darling` exceeds with probability 0.05 where the gaps are exponential."""
_LEAST: Final = 0.5  # instants are whole seconds, so a gap is known to half of one


def anderson_darling(page: Ints, gaps_s: Floats, pages: int) -> Floats:
    """Return A^2 (1 + 0.6 / n) of the gaps of many pages, each against the exponential with their mean.

    Because the mean is taken from the same gaps, the usual tables of the statistic do not hold; `CRITICAL` is for this
    case.

    Parameters
    ----------
    page, gaps_s
        Of each gap: which page, and how long; shape (n,).
    pages
        How many there are.

    Returns
    -------
    array
        Shape (pages,), nan where there is no gap.

    Examples
    --------
    Gaps of a clock, and gaps that fall as the exponential does:

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
        Place of the page among those that have any, by their numbers.
    quiet_s
        From when the first change was found to the last look that found the page as it was then.
    gap_s
        From when the first change was found to the second.
    """

    page: Ints
    quiet_s: Floats
    gap_s: Floats


def gaps(changes: RecordedChanges, seed: int = 0) -> Gaps:
    """Return the gaps between changes in one life of a page; changes at one instant are one.

    Where pages are visited it is known only between which two looks a change was made. Did pages change at random
    moments, then the time from one finding to the next change would be exponential, whatever came before; where it ends
    between two looks, that is drawn from the very same distribution, with the page's most likely rate. So pages that do
    change at random look as if they did, however seldom they are visited, and bursts between two looks are not seen.

    Parameters
    ----------
    changes
        By page and time.
    seed
        Draws the instants.
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
    """Return when in a time a change was made, if one was: exponential, cut off at its end; evenly, at no rate."""
    told = np.isfinite(rate) & (rate > 0) & (within_s > 0)
    rate = np.where(told, rate, 1.0)
    return np.where(told, -np.log1p(u * np.expm1(-rate * within_s)) / rate, u * within_s)
