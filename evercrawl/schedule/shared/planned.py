"""The base of allocation policies: at intervals, a plan of visit rates for all pages, with evenly spaced visits."""

import inspect
import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.errors import ConfigError
from evercrawl.schedule.abilities import Allocates, Follows, Learns, Resumes, Tabulates, Tunable
from evercrawl.schedule.base import Context, InvalidatedBy, Policy
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, Share, bounded, number
from evercrawl.schedule.shared.checked import Checked, update_ratio
from evercrawl.schedule.shared.estimated import estimator_of
from evercrawl.schedule.shared.pacing import MeasuredPace, Turns
from evercrawl.types import Floats, Slots

ESTIMATORS: Final = ("typical", "gamma", "log_corrected", "naive")
"""Estimates of a rate of change: from the posterior, e to the mean of the logarithm, or the mean; from the visits,
(13) or X / T. The posterior mean is dominated by few pages of unknown rate; with it, most of these would be abandoned
before anything is known of them. Any other name is an estimator of `evercrawl.change`."""
_COUNTED: Final = ESTIMATORS[2:]
_WAIT_S: Final = (1.0, 7 * 86_400.0)  # minimum and maximum time between two plans
_TRUSTED: Final = 100  # visits after which this run's pace replaces that of an earlier run
_DAY_S: Final = 86_400.0
_UNSEEN: Final = 0.5  # number of changes assumed for a page that was never found changed
_PACE: Final = "planned_visits_per_s"


class PlannedRates(Learns, Allocates, Tunable, Follows, Resumes, Tabulates, Policy):
    """Plan a visit rate f for every page at intervals, and visit the page that is latest in units of its own interval.

    A page with rate 0 is visited when nothing else waits, so the whole budget is used. Pages first visited since the
    last plan get the mean rate. Such policies were published for refresh alone, so new pages have a fixed share of the
    visits as long as there are any, the most important first. The budget to allocate is the recent pace of visits.
    Every parameter can be changed while the policy runs.

    Parameters
    ----------
    new_share
        Share of the visits for new pages, while there are any.
    estimator
        Estimate of a page's rate of change. From its posterior: typical, e to the mean of the logarithm, or gamma, the
        mean. From the results of its visits: log_corrected, Cho's estimator for random checks, or naive, changes
        divided by time; both assume half a change for pages never found changed. Or another estimator of
        `evercrawl.change`, replaced by the posterior mean while it gives 0 or infinity: classes, irregular,
        last_modified, log, log_exact, online_counts, online_momentum, online_steps, posterior.
    replan
        Time between two plans, as a multiple of the time in which every page could be visited once.
    """

    invalidated_by: ClassVar[InvalidatedBy] = "plans"
    reviews: ClassVar[int] = 8  # due times recomputed per visit after a new plan: all of them before the next plan

    @bounded
    def __init__(
        self, new_share: Share = 0.5, estimator: str = "gamma", replan: Annotated[float, number(1e-3, 100)] = 0.125
    ) -> None:
        self.new_share = new_share
        self.estimator = estimator.replace("-", "_")
        self._estimated = estimator_of(f"{self.called}: estimator", self.estimator, ESTIMATORS)
        self.replan = replan
        self._turns, self._pace, self._seen = Turns(new_share), MeasuredPace(), Checked()
        self._visits, self._resumed_per_s = 0, math.nan
        self._rates = Rows([("per_s", "f8")], (math.nan,))
        self._mean_per_s = 1.0

    @property
    def called(self) -> str:
        """The name by which users choose this policy."""
        return type(self).__module__.rpartition(".")[2]

    @abstractmethod
    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return visit rates in any unit, shape (n,), finite and not negative; they are scaled to the budget.

        Parameters
        ----------
        pages
            All visited pages.
        weight
            Their weights, shape (n,), not negative. At least one page has positive weight and rate; otherwise all
            rates are equal and this method is not called.
        lam
            Their rates of change, per second, shape (n,).
        budget_per_s
            Visits per second available for them, above 0.
        """

    def promise(self, pages: Pages) -> Floats:
        """Return the promise of new pages, shape (n,), not negative: by default their weight."""
        return np.maximum(pages.importance, 0.0)

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the lateness of pages in units of their own intervals, the promise of new pages, and take turns.

        Pages with a planned rate are worth 1 more, so that those without a rate come last.
        """
        new = np.isnan(pages.visited_at)
        waited_s = np.maximum(context.now - np.where(new, context.now, pages.visited_at), 0.0)
        per_s = self.rates(pages.slot)
        spare = waited_s / (waited_s + _WAIT_S[1])
        late = np.where(per_s > 0, 1.0 + self.lateness(pages, per_s, waited_s, context.now), spare)
        return self._turns.order(np.where(new, self.promise(pages), late), new)

    def lateness(self, pages: Pages, per_s: Floats, waited_s: Floats, now: float) -> Floats:
        """Return how late pages are, shape (n,), not negative: by default f times the time waited."""
        return per_s * waited_s

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return when the interval since the last visit is over; infinity for pages without visits in the plan."""
        per_s = self.rates(pages.slot)
        return pages.visited_at + np.where(per_s > 0, 1.0 / np.where(per_s > 0, per_s, 1.0), np.inf)

    def rates(self, slots: Slots) -> Floats:
        """Return visits per second by the last plan, shape (n,); the mean for pages not in the plan."""
        per_s = self._rates.take(slots)["per_s"]
        return np.where(np.isnan(per_s), self._mean_per_s, per_s)

    def learn(self, visits: Visits) -> None:
        """Count visits and changes if rates are estimated from these; update a configured estimator."""
        if self._estimated is not None:
            self._estimated.learn(visits)
        elif self.estimator in _COUNTED:
            self._seen.learn(visits)

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        """Allocate the rest of the budget to visited pages; return the time of the next plan."""
        n = len(pages.slot)
        if not n:
            return context.now + _WAIT_S[0]
        per_s = self._per_s()
        budget = per_s * (1.0 - self.new_share if unread and self.new_share < 1.0 else 1.0)
        found = self._allocated(pages, budget)
        total = float(found.sum())
        rows = self._rates.upto(int(pages.slot.max()) + 1)
        rows["per_s"][pages.slot] = found * (budget / total) if total > 0 else budget / n
        self._mean_per_s = budget / n
        return context.now + min(max(self.replan * n / per_s, _WAIT_S[0]), _WAIT_S[1])

    def _allocated(self, pages: Pages, budget_per_s: float) -> Floats:
        weight, lam = np.maximum(pages.importance, 0.0), self.changes_per_s(pages)
        if not ((weight > 0) & (lam > 0)).any():
            return np.ones(len(lam))
        return np.nan_to_num(self.allocate(pages, weight, lam, budget_per_s), posinf=0.0)

    def _per_s(self) -> float:
        resumed = self._visits < _TRUSTED and not math.isnan(self._resumed_per_s)
        return self._resumed_per_s if resumed else self._pace.per_s

    def changes_per_s(self, pages: Pages) -> Floats:
        """Return the rates of change of pages, per second, shape (n,), by the configured estimator.

        For pages without informative visits the posterior is used. A page that was never found changed would have the
        rate 0 and never be visited again, so half a change is assumed.
        """
        believed = pages.shape / pages.scale_s
        if self.estimator == "typical":
            return typical(pages.shape, pages.scale_s)
        if self.estimator == "gamma":
            return believed
        if self._estimated is not None:
            return self._estimated.rates(pages.slot, believed)
        seen = self._seen.take(pages.slot)
        checks, changes, watched_s = (seen[name].astype(np.float64) for name in ("checks", "changes", "watched_s"))
        told = (checks > 0) & (watched_s > 0)
        changes = np.maximum(changes, _UNSEEN)
        if self.estimator == "log_corrected":
            changes = update_ratio(checks, np.minimum(changes, checks)) * checks
        return np.where(told, changes / np.where(told, watched_s, 1.0), believed)

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Measure the pace, and count the turns of new and visited pages."""
        self._visits += len(values)
        self._pace.made(len(values), context.now)
        self._turns.made(len(values), new)

    def adjust(self, options: Mapping[str, float | str]) -> None:
        """Set new values for any parameters, from the next plan on; invalid ones are refused as by the constructor.

        A new estimator learns from later visits only; after a restart, from all visits.
        """
        names = list(inspect.signature(type(self)).parameters)
        unknown = sorted(set(options) - set(names))
        if unknown:
            raise ConfigError(f"{self.called} has no {', '.join(unknown)}; it has {', '.join(names)}")
        asked: dict[str, Any] = {name: getattr(self, name) for name in names} | dict(options)
        other = type(self)(**asked)
        if other.estimator != self.estimator:
            self._estimated = other._estimated
        for name in names:
            setattr(self, name, getattr(other, name))
        self._turns.share = self.new_share

    def notes(self) -> dict[str, float]:
        """Return the pace; nothing before the first visit."""
        return {_PACE: self._per_s()} if self._visits or not math.isnan(self._resumed_per_s) else {}

    def resume(self, notes: dict[str, float]) -> None:
        """Plan with the pace of an earlier run, until this run has made enough visits."""
        if notes.get(_PACE, 0.0) > 0:
            self._resumed_per_s = notes[_PACE]

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the plan.

        Returns
        -------
        plan
            The pages in the last plan.

            slot : page
                The page.
            visits_per_day : visits a day
                Visits that the plan gives the page.
        """
        per_s = self._rates.upto(0)["per_s"]
        slots = np.flatnonzero(~np.isnan(per_s)).astype(np.uint32)
        return {"plan": {"slot": slots, "visits_per_day": per_s[slots] * _DAY_S}}


def typical(shape: Floats, scale_s: Floats) -> Floats:
    """Return e^(E ln lam) of rates with a Gamma(shape, scale_s) law, per second, shape (n,); less than the mean.

    Examples
    --------
    With shape 1 it is the mean times e^-0.5772 (Euler's constant); for a known rate, it is the rate.

    >>> typical(np.array([1.0, 1e12]), np.array([1.0, 1e12])).round(6)
    array([0.561459, 1.      ])

    References
    ----------
    Abramowitz, Stegun (1964). Handbook of Mathematical Functions, 6.3.5 and 6.3.18.
    """
    x, log = np.asarray(shape, np.float64), np.zeros(len(shape))
    for _ in range(6):
        log, x = log - 1.0 / x, x + 1.0
    square = 1.0 / (x * x)
    log = log + np.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square / 252))
    return np.exp(log) / scale_s
