"""Deliberately wrong priors and non-default patience, to replace the usual ones."""

import numpy as np

from evercrawl.change.special import digamma
from evercrawl.lab.polling.beliefs import PollingBeliefs
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.price_gamma import PriceGamma
from evercrawl.types import Floats, Ints


class FixedPrior(PollingBeliefs):
    """Gamma posteriors of rates with one constant prior for all pages.

    Parameters
    ----------
    host
        Number of each page's host, shape (n,).
    prior
        Shape, and scale in seconds.
    forget, cycle_s
        As for `PollingBeliefs`.
    """

    def __init__(self, host: Ints, prior: tuple[float, float], *, forget: float, cycle_s: float) -> None:
        super().__init__(host, None, forget=forget, cycle_s=cycle_s, by_host=False)
        self._always = prior
        self.shape[:], self.scale_s[:] = prior

    def refresh(self) -> None:
        """Leave the prior unchanged."""
        self._untold.clear()

    def _prior(self, rows: Ints) -> tuple[float, Floats]:
        shape, scale_s = self._always
        return shape, np.full(len(rows), scale_s)


class Patient(PriceGamma):
    """The Gamma index with a fixed patience for new pages.

    By default, patience is proportional to the time that one visit to every read page takes.

    Parameters
    ----------
    patience_s
        The patience, in seconds.
    """

    def __init__(self, patience_s: float) -> None:
        super().__init__()
        self.patience = self._always = patience_s

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Restore the fixed patience."""
        super().chosen(values, context, new)
        self.patience = self._always


def prior_of(lam_per_s: Floats, shape: float, times: float = 1.0) -> tuple[float, float]:
    """Return the prior with a given shape whose mean logarithm is that of the rates times a factor; scale in seconds.

    Examples
    --------
    With shape 1 the mean logarithm is that of the mean rate, less Euler's constant:

    >>> shape, scale_s = prior_of(np.full(3, np.exp(-0.5772156649)), 1.0)
    >>> shape, round(scale_s, 6), round(prior_of(np.ones(3), 1.0, 10.0)[1] * 10 / prior_of(np.ones(3), 1.0)[1], 6)
    (1.0, 1.0, 1.0)
    """
    return shape, float(np.exp(digamma(shape) - np.log(lam_per_s).mean())) / times
