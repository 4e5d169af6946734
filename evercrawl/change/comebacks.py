"""How fast pages that were found gone come back."""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

SHAPE: Final = 0.5
"""a: some pages are back within hours, and most never."""
_EXPECTED_S: Final = 30 * 86_400.0  # gone until one was back, before any was
_NEVER_S: Final = 1e30


class Comebacks:
    """The rate at which pages come back that were just found gone, over all of a crawl.

    Rates are thought to follow Gamma(a, b), as for changes, with a = 0.5: of a page that has been gone for T it is
    Gamma(a, b + T), so that the longer it has been gone, the longer it is likely to stay so. What the crawl learns is
    b: the returns that were seen, by the time in which they could be, of which each second counts b / (b + T), as so
    much less is to be expected of it. Before any was seen, one in thirty days is taken to be, which counts as if a page
    had been watched for as long.

    Parameters
    ----------
    back
        Pages that were found gone, and by the next visit that told were back.
    watched_s
        Time that counts from each visit that found a page gone to the next that told whether it was, over all pages.

    Attributes
    ----------
    elsewhere
        The same two of pages that others watch.

    Examples
    --------
    A thousand pages, gone since yesterday; today a hundred are back:

    >>> comebacks, day = Comebacks(), 86_400.0
    >>> comebacks.learn(np.full(1000, day), np.full(1000, day), back=100)
    >>> comebacks.back, round(1 / comebacks.per_s / day, 1)
    (100, 9.3)
    """

    def __init__(self, back: float = 0, watched_s: float = 0.0) -> None:
        self.back, self.watched_s = back, watched_s
        self.elsewhere = 0.0, 0.0

    def learn(self, gone_s: ArrayLike, interval_s: ArrayLike, *, back: int) -> None:
        """Take note of pages, gone for `gone_s` at the visit before, an interval ago, of which `back` are there again.

        Both in seconds, shape (n,), or of one page.
        """
        scale_s = self.scale_s
        self.back += back
        self.watched_s += float(np.sum(scale_s * np.log1p(np.asarray(interval_s) / (scale_s + np.asarray(gone_s)))))

    @property
    def per_s(self) -> float:
        """Part of the pages just found gone that come back in a second, a / b; above 0."""
        back, watched_s = self.elsewhere
        return (self.back + back + 1.0) / (self.watched_s + watched_s + _EXPECTED_S)

    @property
    def scale_s(self) -> float:
        """b, in seconds."""
        return scale_s(self.per_s)


def scale_s(per_s: float) -> float:
    """Return b, in seconds, of a rate that is known; without one, so much that no page is ever back.

    >>> scale_s(0.25)
    2.0
    """
    return SHAPE / per_s if per_s > 0 and math.isfinite(per_s) else _NEVER_S
