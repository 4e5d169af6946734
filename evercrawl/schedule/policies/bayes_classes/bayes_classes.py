"""Bayesian classes: each page belongs to one of a few rate classes; a visit is worth its mean over the classes."""

import math
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.errors import ConfigError
from evercrawl.schedule.abilities import Assessed, Learns, Tabulates, assessed
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas.index import HARMONIC, NEVER_S
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, Share, bounded, number
from evercrawl.schedule.policies.bayes_classes.beliefs import ClassBeliefs
from evercrawl.schedule.shared.by_price import ByPrice
from evercrawl.types import Floats

PERIODS_DAYS: Final = "0.05,0.2,0.7,2,6,15,40,100,300,1000,4000"
_DAY_S: Final = 86_400.0
_LOG_AGES: Final = np.linspace(0.0, math.log(NEVER_S), 300)  # logarithms of ages in seconds, a twelfth apart
_TOGETHER: Final = 512  # number of pages whose worth at all these ages is computed at once
_LEAST: Final = 1e-300


class BayesClasses(Learns, Tabulates, ByPrice):
    """Visit the page whose visit is worth most, averaged over its possible rate classes; one price for all.

    After each visit the probabilities of the page's classes are multiplied by the likelihoods of the result. A visit is
    worth V = w sum pi_k ((1 - theta) h(x_k) + theta (x_k - 1 + e^(-x_k))) / lam_k, x_k = lam_k tau,
    h(x) = 1 - e^-x (1 + x); the price, and the worth of new pages, follow the policy `price`. The prior of a page is
    learned from the pages of its site and of the crawl.

    Parameters
    ----------
    periods_days
        Mean time between two changes in each class, in days, separated by commas.
    forget
        Fraction by which earlier visits count less with each later one; 0 if rates of change stay constant.
    harmonic
        theta, the weight of the harmonic index: a larger value gives more visits to pages that change too often to
        follow.

    Examples
    --------
    Nothing is known of either page, so the one that has waited longer is worth more:

    >>> from evercrawl.schedule import Context, Pages
    >>> one, none, visited_at = np.ones(2), np.zeros(2), np.array([9e4, 0.0])
    >>> pages = Pages(np.arange(2, dtype=np.uint32), visited_at, one, none, one, one, one, none, none)
    >>> BayesClasses("1,30").value(pages, Context(1e5)).argmax().item()
    1

    References
    ----------
    Cho, Garcia-Molina (2000). The evolution of the web and implications for an incremental crawler, section 5.3, with
    two classes, of which the more probable one decides. The mean over classes is the index of Olston, Pandey (2008) for
    an unknown rate.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"site"})

    @bounded
    def __init__(
        self,
        periods_days: str = PERIODS_DAYS,
        forget: Annotated[float, number(0, 1, but=1)] = 0.02,
        harmonic: Share = HARMONIC,
    ) -> None:
        super().__init__(harmonic)
        self.periods_s = _DAY_S * _periods(periods_days)
        self._beliefs = ClassBeliefs(1.0 / self.periods_s, forget)
        worth_s, dear = self._of_classes(np.exp(_LOG_AGES)[:, None] / self.periods_s)
        self._worth_at, self._dear_at = worth_s.T.copy(), dear.T.copy()

    def learn(self, visits: Visits) -> None:
        """Update the class probabilities of the visited pages."""
        self._beliefs.learn(visits)

    def assess(self, pages: Pages, context: Context, valued: int, due_from: int) -> Assessed:
        """Return the results of `value` and `due`, computed from the classes."""
        return assessed(self, pages, context, valued, due_from)

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the worth of a visit to each page per unit of the budget; a new page has the age `patience`."""
        new = np.isnan(pages.visited_at)
        waited_s = 0.0 if pages.found_at is None else np.nan_to_num(context.now - pages.found_at)
        age_s = np.where(new, np.maximum(self.patience, waited_s), np.maximum(context.now - pages.visited_at, 0.0))
        likely = self._beliefs.probabilities(pages.slot, pages.site)
        return self._worth(pages, likely, age_s, new)

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return when a visit to each page will be worth the price; infinity if it never will."""
        if math.isnan(self.price) and len(pages.slot):
            self.price = max(float(np.median(self.value(pages, context))), _LEAST)
        likely = self._beliefs.probabilities(pages.slot, pages.site)
        parts = [slice(first, first + _TOGETHER) for first in range(0, len(likely), _TOGETHER)]
        age_s = np.concatenate([self._age_when_due(pages.take(part), likely[part]) for part in parts] or [np.zeros(0)])
        seen_s = pages.neg_log_unchanged / (likely * self._beliefs.rates).sum(1)  # age equivalent to a notice
        return np.asarray(pages.visited_at + np.maximum(age_s - seen_s, 0.0))

    def _age_when_due(self, pages: Pages, likely: Floats) -> Floats:
        """Return the age at which a visit to each page is worth the price; infinity if there is none."""
        worth_s, dear = (np.einsum("nk,kg->ng", likely, of) for of in (self._worth_at, self._dear_at))
        earned = pages.importance[:, None] * worth_s
        price = self.price * (1.0 if pages.host_price_ratio is None else pages.host_price_ratio[:, None])
        asked = price * (pages.cost[:, None] + pages.cost_changed[:, None] * dear)
        enough = earned >= asked
        first, rows = np.maximum(enough.argmax(1), 1), np.arange(len(likely))
        with np.errstate(over="ignore"):  # if the median page is worth nothing, the price is 0
            below, above = (
                np.log(np.minimum(np.maximum(earned[rows, place], _LEAST) / asked[rows, place], 1.0 / _LEAST))
                for place in (first - 1, first)
            )
        part = np.clip(-below / np.maximum(above - below, _LEAST), 0.0, 1.0)
        age_s = np.exp(_LOG_AGES[first - 1] + part * (_LOG_AGES[1] - _LOG_AGES[0]))
        return np.where(enough[:, -1], age_s, np.inf)

    def _worth(self, pages: Pages, likely: Floats, age_s: Floats, new: NDArray[np.bool_]) -> Floats:
        notice = np.where(new, 0.0, pages.neg_log_unchanged)
        worth_s, dear = self._of_classes(np.minimum(age_s[:, None] / self.periods_s + notice[:, None], 1e15))
        cost = pages.cost + pages.cost_changed * np.where(new, 1.0, (likely * dear).sum(1))
        return np.asarray(pages.importance * (likely * worth_s).sum(1) / cost)

    def _of_classes(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the worth (s) of a visit by class, and h, after x expected changes; shapes as `x`."""
        gone = -np.expm1(-x)
        dear = np.maximum(gone - x * (1.0 - gone), 0.0)
        worth = (1 - self._harmonic) * dear + self._harmonic * np.maximum(x - gone, 0.0)
        return worth * self.periods_s, dear

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the class probabilities of each page, and of the sites' next new pages.

        Returns
        -------
        classes
            The visited pages, with the probability of each class.

            slot : page
                The page.
            visits : visits
                Visits that showed whether the page had changed.
            every_N_days : probability
                Probability that the page changes once in N days on average; a row sums to 1.
        """
        slots, visits = self._beliefs.all()
        likely = self._beliefs.probabilities(slots)
        names = [f"every_{period_s / _DAY_S:g}_days" for period_s in self.periods_s]
        columns = dict(zip(names, likely.T, strict=True))
        return {"classes": {"slot": slots, "visits": visits, **columns}}


def _periods(text: str) -> Floats:
    """Return the periods in a setting, in ascending order."""
    try:
        found = np.unique([float(part) for part in str(text).split(",")])
    except ValueError:
        found = np.zeros(1)
    if not (found > 0).all() or not np.isfinite(found).all() or len(found) < 2:
        raise ConfigError(f"periods_days is {text!r}; write two or more numbers of days above 0, such as 1,7,30")
    return np.asarray(found, np.float64)
