"""The exposure of copies to change, by the clocks of folders or by time alone."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.formulas.index import survival
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats

_LEAST: Final = 1e-6  # minimum of a probability and of its complement


class Exposure(NamedTuple):
    """The posterior state of copies, shape (n,) each.

    Attributes
    ----------
    shape, scale_s
        Posterior of the rate of change on the clock, Gamma(shape, scale_s).
    exposure_s
        Time since the visit, on the clock.
    speed
        Current mean growth of the exposure per second.
    level, slope
        Calibration of the probability of freshness: the linear map applied to the logarithm of its odds.
    """

    shape: Floats
    scale_s: Floats
    exposure_s: Floats
    speed: Floats
    level: Floats
    slope: Floats

    def fresh(self) -> Floats:
        """Return the probability that each copy is fresh, shape (n,), calibrated by observations on its site.

        >>> no, one = np.zeros(1), np.ones(1)
        >>> Exposure(one, one, one, one, no, one).fresh(), Exposure(one, 3 * one, one, one, no, 2 * one).fresh()
        (array([0.5]), array([0.9]))
        """
        plain = np.clip(survival(self.shape, self.scale_s, self.exposure_s), _LEAST, 1 - _LEAST)
        odds = np.exp(-self.level) * (1 / plain - 1) ** self.slope
        return np.where(self.exposure_s > 0, 1 / (1 + odds), 1.0)

    def dying(self, age_s: ArrayLike, deaths_per_s: float) -> Exposure:
        """Return the state of copies that also become invalid when their pages vanish: with lam + d in place of lam.

        A Gamma distribution with the mean and variance of lam + d is used. Its survival is the original one times
        e^(-d t): exactly for a known rate, up to t^3 otherwise. Changes follow the clock and deaths follow time, so the
        exposure is the mean of both, weighted by their rates.

        Parameters
        ----------
        age_s
            Time since the visit, shape (n,).
        deaths_per_s
            d, the fraction of pages that vanish per second.
            d, the part of the pages that vanish in a second.

        Examples
        --------
        Pages change once a second on average, and one vanishes every two seconds:

        >>> one, no = np.ones(1), np.zeros(1)
        >>> both = Exposure(1e9 * one, 1e9 * one, one, one, no, one).dying(one, 0.5)
        >>> both.shape / both.scale_s, -np.log(both.fresh()).round(6)
        (array([1.5]), array([1.5]))
        """
        also = deaths_per_s * self.scale_s / self.shape
        both = 1.0 + also
        return Exposure(
            self.shape * both**2, self.scale_s * both, (self.exposure_s + also * np.asarray(age_s)) / both,
            (self.speed + also) / both, self.level, self.slope,
        )  # fmt: skip


def by_age(pages: Pages, now: float) -> Exposure:
    """Return ages as exposures, and the pages' own rates: the prediction by time alone."""
    none, one = np.zeros(len(pages.slot)), np.ones(len(pages.slot))
    age_s = np.maximum(now - np.asarray(pages.visited_at, np.float64), 0.0)
    return Exposure(
        np.array(pages.shape, np.float64), np.array(pages.scale_s, np.float64), age_s, one, none, one.copy()
    )
