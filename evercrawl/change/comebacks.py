"""The rate at which pages that were found gone come back."""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.change.credits import EventCredits

SHAPE: Final = 0.5
"""a, a shape with which some pages are back within hours and most never."""
_EXPECTED_S: Final = 30 * 86_400.0  # prior time gone per return
_NEVER_S: Final = 1e30


class Comebacks:
    """The rate at which pages just found gone come back, over the whole crawl.

    Rates have a Gamma(a, b) distribution, as for changes, with a = 0.5. For a page that has been gone for T it is
    Gamma(a, b + T): the longer a page has been gone, the longer it is likely to stay gone. The crawl learns b from the
    number of returns and the time in which they were possible, where each second counts b / (b + T), the relative
    expectation of a return. The prior is one return in thirty days, with the weight of one page observed for that time.
    For each site, the number of returns that count is limited (`EventCredits`).

    Parameters
    ----------
    back
        Number of pages found gone that were back at the next informative visit.
    watched_s
        Weighted time from each visit that found a page gone to the next informative visit, over all pages.

    Attributes
    ----------
    elsewhere
        The same two numbers for pages of other partitions.

    Examples
    --------
    A thousand pages have been gone since yesterday; today a hundred are back:

    >>> comebacks, day = Comebacks(), 86_400.0
    >>> comebacks.learn(np.full(1000, day), np.full(1000, day), back=100)
    >>> comebacks.back, round(1 / comebacks.per_s / day, 1)
    (100, 9.3)
    """

    def __init__(self, back: float = 0, watched_s: float = 0.0) -> None:
        self.back, self.watched_s = back, watched_s
        self.elsewhere = 0.0, 0.0
        self._credits = EventCredits()

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return self._credits.nbytes

    def learn(self, gone_s: ArrayLike, interval_s: ArrayLike, *, back: int) -> None:
        """Learn that `back` of the pages are back, which had been gone for `gone_s` at the visit an interval ago.

        Both are in seconds, of shape (n,) or scalars for one page.
        """
        self.watched_s, self.back = self.watched_s + self._weighted_s(gone_s, interval_s), self.back + back

    def learn_of_site(self, site: int, gone_s: float, interval_s: float, *, back: bool) -> None:
        """Learn like `learn` from one page of a site; returns beyond the limit for the site do not count."""
        self._credits.expect(site, self.per_s * self._weighted_s(gone_s, interval_s))
        self.learn(gone_s, interval_s, back=int(back and self._credits.take(site)))

    def _weighted_s(self, gone_s: ArrayLike, interval_s: ArrayLike) -> float:
        scale_s = self.scale_s
        return float(np.sum(scale_s * np.log1p(np.asarray(interval_s) / (scale_s + np.asarray(gone_s)))))

    @property
    def per_s(self) -> float:
        """The fraction of pages just found gone that come back per second, a / b; above 0."""
        back, watched_s = self.elsewhere
        return (self.back + back + 1.0) / (self.watched_s + watched_s + _EXPECTED_S)

    @property
    def scale_s(self) -> float:
        """b, in seconds."""
        return scale_s(self.per_s)


def scale_s(per_s: float) -> float:
    """Return b, in seconds, for a known rate; for a rate of 0, a value with which no page is ever back.

    >>> scale_s(0.25)
    2.0
    """
    return SHAPE / per_s if per_s > 0 and math.isfinite(per_s) else _NEVER_S
