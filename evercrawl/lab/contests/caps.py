"""Hosts that limit visits: the share of the constrained optimum that policies reach."""

from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.base import Claim, LabOptions, Panel, PanelCurve, Row, Say
from evercrawl.lab.contests.comparison import TURNS, Case, Comparison, closed_form
from evercrawl.lab.contests.contest import abandons_none, whole
from evercrawl.lab.contests.contestants import Contestant
from evercrawl.lab.polling.conditions import TICKS
from evercrawl.lab.polling.polling import Conditions, PollingRun
from evercrawl.lab.polling.population import HOSTS, Population
from evercrawl.lab.tables import at_least, listed, mean, near, ours
from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.formulas.allocation import Constrained
from evercrawl.types import Floats

_BUDGET: Final = 0.1
_TURNS: Final = 2 * TURNS
"""Cycles of a run: the fullest host takes 24 cycles for one round, so in a shorter run only its start would count."""
_TIMES: Final = (4.0, 2.0)  # the limit of a host, in multiples of an equal share of the budget
_TICKS: Final = 400
_LEAST: Final = 0.97
_CLIPPED: Final = "clipped optimum"
_PRINTED: Final = (0.747, 0.844)
_PRINTED_BEST: Final = (0.982, 0.993)
_WITHIN: Final = 0.03


class HostLimited(NamedTuple):
    """A row: the policy, whether it knows rates, and whether the frontier offers pages or all pages are valued.

    `times` is the limit of each host, in multiples of an equal share of the budget.
    """

    label: str
    policy: str
    known: bool
    frontier: bool
    times: float = 0.0


_GAMMA: Final = HostLimited("price_gamma, known rates, all valued", "price_gamma", known=True, frontier=False)
_KNOWN: Final = HostLimited("price, known rates", "price", known=True, frontier=True)
_LEARNED: Final = HostLimited("price", "price", known=False, frontier=True)
_KINDS: Final = (
    _GAMMA,
    HostLimited("price, known rates, all valued", "price", known=True, frontier=False),
    HostLimited("price, all valued", "price", known=False, frontier=False),
    _KNOWN,
    _LEARNED,
)


class Caps(Comparison[HostLimited]):
    """How much of the constrained optimum is reached if each host limits its visits per day.

    The clipped optimum gives pages the rates they would have without limits, reduced in proportion on each host that
    exceeds its limit. Printed, for other hosts and limits: 0.982 and 0.993 for the best allowed visit, 0.747 and 0.844
    clipped. In rows named "all valued", each choice takes the best allowed visit of all pages; in the others, the
    crawl's own frontier offers pages one by one. Unread pages on a host that has reached its limit wait; their value
    rises while they wait, so each is read eventually.
    """

    title = "Host limits, as a share of the constrained optimum"
    turns = _TURNS
    budgets = (_BUDGET,)

    def settings(self, options: LabOptions) -> list[HostLimited]:
        """Return every kind of row, under two limits."""
        return [kind._replace(times=times) for times, kind in product(_TIMES, _KINDS)]

    def closed(self, options: LabOptions, say: Say) -> list[Row]:
        """Return the rows of the clipped optimum."""
        return closed_form(_clipped, options, self.budgets, say)

    @staticmethod
    def measured(case: Case[HostLimited], pages: Population) -> Row:
        """Run it; unread pages are `waiting` on hosts that have reached their limits, and abandoned on others."""
        kind, limit = case.setting, limit_of(pages, case.setting.times)
        ticks = TICKS if kind.frontier else _TICKS
        conditions = Conditions(known=kind.known, cap_per_day=limit.cap, frontier=kind.frontier, ticks=ticks)
        one = Contestant(kind.label, kind.policy, {}, conditions)
        polling = PollingRun(one.made(case.budget), pages, case.budget, case.seed, conditions)
        end = polling.run(case.cycles, case.cycles / 2)
        waiting = int((np.isnan(polling.held.visited_at) & limit.full[pages.host]).sum())
        return limit.row(kind.times, end.value) | {
            "unused": end.unused, "abandoned": end.abandoned - waiting, "waiting": waiting,
        }  # fmt: skip

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Compare our rows with our promises, and all rows with earlier figures for other limits."""
        promised = whole(options) and (options.turns or _TURNS) >= _TURNS
        best, worse = _reached(rows, _GAMMA.label), _reached(rows, _CLIPPED)
        ahead = all(one < other for one, other in zip(worse, best, strict=True))
        return [
            *(ours(f"{kind.label}, under limits", _LEAST, _reached(rows, kind.label), promised=promised)
              for kind in _KINDS),
            Claim("the clipped optimum is worse than the best allowed visit (here in place of print)", listed(best),
                  listed(worse), ahead),
            Claim("the clipped optimum (printed: for other limits)", listed(_PRINTED),
                  listed(worse), near(worse, _PRINTED, _WITHIN)),
            Claim("the best allowed visit (printed: for other limits)", listed(_PRINTED_BEST),
                  listed(best), at_least(best, _PRINTED_BEST, _WITHIN)),
            *abandons_none(rows, (_KNOWN.label, _LEARNED.label), promised=promised),
            _waiting(rows),
        ]  # fmt: skip

    def panels(self, rows: list[Row], options: LabOptions) -> list[Panel]:
        """Return a figure with one group of bars per limit."""
        places = [float(place) for place in range(len(_TIMES))]
        names = (_CLIPPED, *(kind.label for kind in _KINDS))
        curves = [PanelCurve(name, places, _reached(rows, name), name == _LEARNED.label) for name in names]
        said = tuple(f"{times:g} equal shares" for times in _TIMES)
        return [Panel("host limits", "limit of each host", "share of the optimum", curves, bars=True, named=said)]


class Limit(NamedTuple):
    """The limits of hosts in visits per day, whether the optimum exhausts each, and the best value within them."""

    cap: Floats
    full: NDArray[np.bool_]
    best: float

    def row(self, times: float, value: float) -> Row:
        """Return the columns of a row about the limit and the value reached."""
        return {
            "times": times, "saturated": int(self.full.sum()), "optimum": self.best, "ratio": value / self.best,
            "value": value,
        }  # fmt: skip


def limit_of(pages: Population, times: float) -> Limit:
    """Return the limit per host that allows all hosts together `times` times the budget."""
    cap = np.full(HOSTS, times * _BUDGET * len(pages) / HOSTS)
    found, best = best_within(pages, cap, _BUDGET)
    return Limit(cap, np.bincount(pages.host, found.rate, HOSTS) >= cap * (1 - 1e-6), best)


def best_within(pages: Population, cap: Floats, budget: float) -> tuple[Constrained, float]:
    """Return the constrained optimum in visits per day, and the freshness that it keeps, from 0 to 1."""
    found = allocation.constrained(pages.weight, pages.lam_per_day, pages.host, cap, budget * len(pages))
    return found, found.value / float(pages.weight.sum())


def clipped(pages: Population, cap: Floats, budget: float) -> float:
    """Return the freshness of the optimum's rates, reduced in proportion on each host to fit its limit."""
    rate = pages.optimum(budget).rate
    used = np.bincount(pages.host, rate, len(cap)).astype(np.float64)
    fits = np.minimum(1.0, cap / np.maximum(used, cap * 1e-9))
    fresh = allocation.freshness(rate * fits[pages.host], pages.lam_per_day)
    return float(np.average(fresh, weights=pages.weight))


def _clipped(pages: Population, _: int, budget: float) -> Iterator[Row]:
    for times in _TIMES:
        limit = limit_of(pages, times)
        found = limit.row(times, clipped(pages, limit.cap, budget))
        yield {"policy": _CLIPPED} | found | {"unused": 0.0, "abandoned": 0, "waiting": 0, "seconds": 0.0}


def _reached(rows: list[Row], label: str, name: str = "ratio") -> list[float]:
    return [mean(rows, name, policy=label, times=times) for times in _TIMES]


def _waiting(rows: list[Row]) -> Claim:
    """Return the number of unread pages at the end on hosts that have reached their limits."""
    told = "; ".join(f"{kind.label}: {listed(_reached(rows, kind.label, 'waiting'), 0)}" for kind in (_KNOWN, _LEARNED))
    return Claim("unread pages at the end, on hosts that have reached their limits", "", told, None)
