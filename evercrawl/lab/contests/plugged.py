"""The index with a point estimate in place of the posterior, to measure the value of the posterior."""

import math
from dataclasses import replace
from typing import Final

import numpy as np

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.abilities import Assessed, Learns
from evercrawl.schedule.base import Context
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, bounded, choice
from evercrawl.schedule.policies.price_gamma import PriceGamma
from evercrawl.schedule.shared.checked import Checked, rate_per_s
from evercrawl.types import Floats

ESTIMATORS: Final = ("mean", "thompson", "log_corrected", "naive")
_SURE: Final = 1e12  # the shape of a posterior that stands for a known rate
_UNSEEN: Final = 0.5  # number of changes assumed for a page that was never found changed


class Plugged(Learns, PriceGamma):
    """Visit the page whose visit would be worth most if its estimated rate of change were the true one.

    This is `price_gamma` without a distribution: it uses the index of known rates and ignores the uncertainty of the
    estimate. A page whose estimate is once too high for its importance is abandoned.

    Parameters
    ----------
    estimator
        The estimate of the rate: `mean`, the posterior mean; `thompson`, a draw from the posterior at each visit of the
        page; `log_corrected`, (13) of the survey; `naive`, changes divided by time, X / T. For pages without an
        observed interval the last two use the posterior mean; a page never found changed counts as half a change.
    seed
        The seed of the draws.

    Examples
    --------
    A page with one change in a day of observation: under the posterior the value of a visit keeps growing with the
    time since the last one, under the mean rate it never exceeds w / lam.

    >>> from evercrawl.schedule import Context, Pages
    >>> one, none, day = np.ones(1), np.zeros(1), 86400.0
    >>> page = Pages(np.zeros(1, np.uint32), none, one, none, one, day * one, one, none, none)
    >>> later, both = Context(1000 * day), (PriceGamma(), Plugged("mean"))
    >>> [float((policy.value(page, later) / day).round(2)[0]) for policy in both]
    [5.91, 1.0]

    References
    ----------
    Thompson (1933). On the likelihood that one unknown probability exceeds another. Cho, Garcia-Molina (2003).
    Estimating frequency of change.
    """

    @bounded
    def __init__(self, estimator: Annotated[str, choice(*ESTIMATORS)] = "mean", seed: int = 1) -> None:
        super().__init__()
        self._estimator = estimator
        self._draw = np.random.default_rng(seed)
        self._drawn = Rows([("visited_at", "f8"), ("per_s", "f8")], (math.inf, math.nan))
        self._seen = Checked()

    def learn(self, visits: Visits) -> None:
        """Count visits and changes."""
        self._seen.learn(visits)

    def fresh(self, pages: Pages, context: Context) -> Floats:
        """Return the probability that each copy is fresh, taking the estimated rates as true; shape (n,)."""
        return super().fresh(self._plugged(pages), context)

    def rates(self, pages: Pages) -> Floats:
        """Return the estimated rates of change, per second, shape (n,)."""
        if self._estimator == "mean":
            return pages.shape / pages.scale_s
        return self._sampled(pages) if self._estimator == "thompson" else self._counted(pages)

    def _assess(self, pages: Pages, context: Context, valued: int, due_from: int, *, fresh: bool = False) -> Assessed:
        return super()._assess(self._plugged(pages), context, valued, due_from, fresh=fresh)

    def _plugged(self, pages: Pages) -> Pages:
        sure = np.full(len(pages.slot), _SURE)
        return replace(pages, shape=sure, scale_s=sure / np.maximum(self.rates(pages), 1e-300))

    def _sampled(self, pages: Pages) -> Floats:
        """Return the rates that were drawn at the pages' last visits."""
        rows = self._drawn.upto(int(pages.slot.max(initial=0)) + 1)
        held = rows[pages.slot]
        anew = ~((held["visited_at"] == pages.visited_at) | (np.isnan(held["visited_at"]) & np.isnan(pages.visited_at)))
        held["per_s"][anew] = self._draw.standard_gamma(pages.shape[anew]) / pages.scale_s[anew]
        held["visited_at"] = pages.visited_at
        rows[pages.slot] = held
        return np.array(held["per_s"])

    def _counted(self, pages: Pages) -> Floats:
        seen = self._seen.take(pages.slot)
        checks, changes, watched_s = (seen[name].astype(np.float64) for name in ("checks", "changes", "watched_s"))
        told = (checks > 0) & (watched_s > 0)
        changes, watched_s = np.maximum(changes, _UNSEEN), np.where(told, watched_s, 1.0)
        if self._estimator == "naive":
            found = changes / watched_s
        else:
            found = rate_per_s(checks, np.minimum(changes, checks), watched_s)
        return np.where(told, found, pages.shape / pages.scale_s)
