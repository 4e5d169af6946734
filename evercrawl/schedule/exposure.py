"""How exposed copies are to change: what the clocks of folders tell, and what time alone does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evercrawl.schedule.index import survival

if TYPE_CHECKING:
    from evercrawl.schedule.base import Pages
    from evercrawl.types import Floats

_LEAST: Final = 1e-6  # of a probability, and of its complement


class Exposure(NamedTuple):
    """What is thought of copies, shape (n,) each.

    Attributes
    ----------
    shape, scale_s
        Posterior of the rate of change on the clock, Gamma(shape, scale_s).
    exposure_s
        Time since the visit, on the clock.
    speed
        How fast that grows now, on the mean.
    level, slope
        What makes true what follows of freshness: the line along which the logarithm of its odds is bent.
    """

    shape: Floats
    scale_s: Floats
    exposure_s: Floats
    speed: Floats
    level: Floats
    slope: Floats

    def fresh(self) -> Floats:
        """Return the probability that each copy is fresh, shape (n,), made true by what was seen of others of its site.

        >>> no, one = np.zeros(1), np.ones(1)
        >>> Exposure(one, one, one, one, no, one).fresh(), Exposure(one, 3 * one, one, one, no, 2 * one).fresh()
        (array([0.5]), array([0.9]))
        """
        plain = np.clip(survival(self.shape, self.scale_s, self.exposure_s), _LEAST, 1 - _LEAST)
        odds = np.exp(-self.level) * (1 / plain - 1) ** self.slope
        return np.where(self.exposure_s > 0, 1 / (1 + odds), 1.0)


def by_age(pages: Pages, now: float) -> Exposure:
    """Return ages as exposures, and the pages' own rates: what time alone tells."""
    none, one = np.zeros(len(pages.slot)), np.ones(len(pages.slot))
    age_s = np.maximum(now - np.asarray(pages.visited_at, np.float64), 0.0)
    return Exposure(
        np.array(pages.shape, np.float64), np.array(pages.scale_s, np.float64), age_s, one, none, one.copy()
    )
