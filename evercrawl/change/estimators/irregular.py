"""The maximum-likelihood rate, for any intervals between visits."""

from typing import ClassVar, Final

import numpy as np

from evercrawl.change.estimators.base import Estimator
from evercrawl.types import Flags, Floats, Ints

_STEPS: Final = 100
_NEAR: Final = 1e-14


def rate(interval_s: Floats, changed: Flags) -> float:
    """Return the maximum-likelihood rate of one page, changes per second.

    It solves sum over visits that found a change of tau / (e^(lam tau) - 1) = sum over the others of tau. It is 0 if no
    visit found a change, infinity if all did, and nan without visits.

    Parameters
    ----------
    interval_s, changed
        For each visit, the time since the previous one, and whether it found a change; shape (n,).

    Examples
    --------
    One of two evenly spaced visits found a change: ln 2.

    >>> rate(np.array([1.0, 1.0]), np.array([True, False]))
    0.693147180559
    """
    return float(
        most_likely(
            1, np.zeros(int(changed.sum()), np.int64), interval_s[changed], np.array([interval_s[~changed].sum()])
        )[0]
    )


def most_likely(pages: int, rows: Ints, changed_s: Floats, unchanged_s: Floats) -> Floats:
    """Return the maximum-likelihood rates of many pages, changes per second, shape (pages,).

    Newton steps from below: the function is decreasing and convex, so the steps never overshoot the root.

    Parameters
    ----------
    pages
        Number of pages.
    rows, changed_s
        For each visit that found a change, the page, and the interval before the visit, shape (n,).
    unchanged_s
        For each page, the sum of the other intervals, shape (pages,).

    Examples
    --------
    >>> most_likely(3, np.array([0, 1]), np.array([1.0, 1.0]), np.array([1.0, 0.0, 1.0])).round(6)
    array([0.693147,      inf, 0.      ])
    """
    changes = np.bincount(rows, minlength=pages).astype(np.float64)
    lam = changes / np.maximum(unchanged_s + np.bincount(rows, changed_s, pages) / 2, 1e-300)
    live = (changes > 0) & (unchanged_s > 0)
    for _ in range(_STEPS):
        kept = live[rows]
        rows, changed_s = rows[kept], changed_s[kept]
        x = lam[rows] * changed_s
        gone = np.where(x > 0, -np.expm1(-x), 1.0)
        share = np.where(x > 0, x * np.exp(-x) / gone, 1.0)  # x / (e^x - 1)
        over = np.bincount(rows, share, pages) - lam * unchanged_s  # times lam, and
        slope = np.bincount(rows, np.where(x > 0, share * x / gone, 1.0), pages)  # times its square
        more = np.where(live, over / np.where(live, slope, 1.0), 0.0)
        lam = lam * (1 + np.maximum(more, 0.0))
        live &= more > _NEAR
        if not live.any():
            break
    lam = np.where(changes == 0, np.where(unchanged_s > 0, 0.0, np.nan), lam)
    return np.where((changes > 0) & (unchanged_s == 0), np.inf, lam)


class Irregular(Estimator):
    """The maximum-likelihood rate.

    It stores each interval that ended in a change, at 16 bytes per change. `gamma` needs two numbers per page, and has
    an estimate even if all visits agree.

    Examples
    --------
    >>> pages = Irregular(2)
    >>> for changed in (True, False):
    ...     pages.learn(np.array([0]), np.array([1.0]), np.array([changed]))
    >>> pages.rates().round(6)
    array([0.693147,      nan])

    References
    ----------
    Cho, Garcia-Molina (2003). Estimating frequency of change, section 5.
    """

    columns: ClassVar[tuple[str, ...]] = ("_unchanged_s",)

    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self._rows: list[Ints] = [np.zeros(0, np.int64)]
        self._changed_s: list[Floats] = [np.zeros(0)]
        self._unchanged_s = np.zeros(pages)

    def learn(self, rows: Ints, interval_s: Floats, changed: Flags, age_s: Floats | None = None) -> None:
        """Store the intervals that ended in a change, and add up the others."""
        self._rows.append(rows[changed])
        self._changed_s.append(interval_s[changed])
        self._unchanged_s[rows] += np.where(changed, 0.0, interval_s)

    def rates(self) -> Floats:
        """Return the maximum-likelihood rate of each page."""
        self._rows, self._changed_s = [np.concatenate(self._rows)], [np.concatenate(self._changed_s)]
        return most_likely(self.pages, self._rows[0], self._changed_s[0], self._unchanged_s)
