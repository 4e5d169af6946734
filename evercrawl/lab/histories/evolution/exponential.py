"""Whether gaps are such as random moments make: a test of the exponential distribution whose mean is not known."""

from typing import Final

import numpy as np

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
