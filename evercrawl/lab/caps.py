"""Hosts that allow only so many visits: how near to the best that their limits leave possible."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evercrawl.lab.base import Claim, Curve, Experiment, Findings, Panel
from evercrawl.lab.cells import drawn, rows_of
from evercrawl.lab.contest import PAGES, TURNS, listed, mean, plain, populations, seeds
from evercrawl.lab.contestants import Contestant
from evercrawl.lab.promises import abandons_none, whole
from evercrawl.schedule import allocation
from evercrawl.simulate.conditions import TICKS
from evercrawl.simulate.polling import Conditions, Polling
from evercrawl.simulate.population import HOSTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.lab.base import Options, Row, Say
    from evercrawl.schedule.allocation import Constrained
    from evercrawl.simulate.population import Population
    from evercrawl.types import Floats

_BUDGET: Final = 0.1
_TURNS: Final = 2 * TURNS
"""Cycles: the fullest host is visited once in 24 of them, so that in half as many it is its beginning that counts."""
_TIMES: Final = (4.0, 2.0)  # a host's equal part of the budget, which it allows at most
_TICKS: Final = 400
_LEAST: Final = 0.97
_CLIPPED: Final = "clipped optimum"
_PRINTED: Final = (0.747, 0.844)
_PRINTED_BEST: Final = (0.982, 0.993)
_WITHIN: Final = 0.03


class Kind(NamedTuple):
    """A row: who chooses, knowing what, and whether the crawl's frontier offers pages, or all are valued each time."""

    label: str
    policy: str
    known: bool
    frontier: bool
    least: float


_GAMMA: Final = Kind("price_gamma, known rates, all valued", "price_gamma", True, False, _LEAST)
_KNOWN: Final = Kind("price, known rates", "price", True, True, _LEAST)
_LEARNED: Final = Kind("price", "price", False, True, _LEAST)
_KINDS: Final = (
    _GAMMA,
    Kind("price, known rates, all valued", "price", True, False, _LEAST),
    Kind("price, all valued", "price", False, False, _LEAST),
    _KNOWN,
    _LEARNED,
)


class Trial(NamedTuple):
    """One run.

    Attributes
    ----------
    kind
        Which row it is.
    pages, seed, cycles
        As in a `Cell`.
    times
        What each host allows, in its equal parts of the budget.
    """

    kind: Kind
    pages: int
    seed: int
    cycles: float
    times: float

    def __str__(self) -> str:
        """Return what is told of it."""
        return f"{self.kind.label}, {self.times:g} times a host's equal part, seed {self.seed}"

    def row(self) -> Row:
        """Run it."""
        began, pages, kind = time.perf_counter(), drawn(self.pages, self.seed, 0.0), self.kind
        limit = limit_of(pages, self.times)
        ticks = TICKS if kind.frontier else _TICKS
        conditions = Conditions(known=kind.known, cap_per_day=limit.cap, frontier=kind.frontier, ticks=ticks)
        one = Contestant(kind.label, kind.policy, {}, conditions)
        polling = Polling(one.made(_BUDGET), pages, _BUDGET, self.seed, conditions)
        end = polling.run(self.cycles, self.cycles / 2)
        waiting = int((np.isnan(polling.held.visited_at) & limit.full[pages.host]).sum())
        return limit.row(self.times, self.seed) | {
            "policy": kind.label, "ratio": end.value / limit.best, "value": end.value, "unused": end.unused,
            "abandoned": end.abandoned - waiting, "waiting": waiting, "seconds": time.perf_counter() - began,
        }  # fmt: skip


class Caps(Experiment):
    """How much of the constrained optimum is reached where each host allows only so many visits a day.

    The clipped optimum gives pages the rates they would have without limits, and each host's pages less where that is
    too much. Printed, for other hosts and limits: 0.982 and 0.993 for the best visit that is allowed, 0.747 and 0.844
    clipped. Where all pages are valued, each choice takes the best visit that is allowed; else the crawl's own frontier
    offers pages, one by one. Pages that were not read yet on a host whose limit is used up wait; they are worth more
    the longer they do, so that each is read some day.
    """

    pages = PAGES
    turns = _TURNS

    def run(self, options: Options, say: Say) -> Findings:
        """Run with rates known and learned, under two limits."""
        plain(options, "caps")
        cycles, count = float(options.turns or _TURNS), options.pages or PAGES
        rows = [_clipped_row(pages, times, seed) for _, seed, pages in populations(options, (0.0,)) for times in _TIMES]
        trials = [
            Trial(kind, count, seed, cycles, times)
            for seed in seeds(options, count) for times in _TIMES for kind in _KINDS
        ]  # fmt: skip
        rows += rows_of(trials, options.jobs, say, options.kept)
        promised = whole(options) and cycles >= _TURNS
        found = Findings("Host limits, as a part of the constrained optimum", rows, panels=[_panel(rows)])
        for kind in _KINDS:
            reached = _reached(rows, kind.label)
            found.claims.append(
                Claim(f"{kind.label}, under limits", f"(ours) at least {kind.least}", listed(reached),
                      min(reached) >= kind.least, promised)
            )  # fmt: skip
        best, worse = _reached(rows, _GAMMA.label), _reached(rows, _CLIPPED)
        near = all(abs(one - other) <= _WITHIN for one, other in zip(worse, _PRINTED, strict=True))
        ahead = all(one < other for one, other in zip(worse, best, strict=True))
        as_good = all(one >= other - _WITHIN for one, other in zip(best, _PRINTED_BEST, strict=True))
        found.claims += [
            Claim("clipping rates that know no limits is worse than the best visit that is allowed", listed(best),
                  listed(worse), ahead),
            Claim("clipping rates that know no limits, as printed for other limits", listed(_PRINTED), listed(worse),
                  near),
            Claim("the best visit that is allowed, as printed for other limits", listed(_PRINTED_BEST), listed(best),
                  as_good),
            *abandons_none(rows, (_KNOWN.label, _LEARNED.label), promised=promised),
            _waiting(rows),
        ]  # fmt: skip
        return found


class Limit(NamedTuple):
    """What hosts allow, in visits a day, whether all are used, and the best value that leaves possible."""

    cap: Floats
    full: NDArray[np.bool_]
    best: float

    def row(self, times: float, seed: int) -> Row:
        """Return what all rows of it share."""
        return {
            "times": times, "seed": seed, "budget": _BUDGET, "optimum": self.best, "saturated": int(self.full.sum()),
        }  # fmt: skip


def limit_of(pages: Population, times: float) -> Limit:
    """Return the limit that lets all hosts together be visited so many times as often as the budget does."""
    cap = np.full(HOSTS, times * _BUDGET * len(pages) / HOSTS)
    found, best = best_within(pages, cap, _BUDGET)
    return Limit(cap, np.bincount(pages.host, found.rate, HOSTS) >= cap * (1 - 1e-6), best)


def best_within(pages: Population, cap: Floats, budget: float) -> tuple[Constrained, float]:
    """Return the constrained optimum, in visits a day, and what it keeps fresh, from 0 to 1."""
    found = allocation.constrained(pages.weight, pages.lam_per_day, pages.host, cap, budget * len(pages))
    return found, found.value / float(pages.weight.sum())


def clipped(pages: Population, cap: Floats, budget: float) -> float:
    """Return what the optimum's rates keep fresh when those of each host are cut in proportion to fit its limit."""
    rate = pages.optimum(budget).rate
    used = np.bincount(pages.host, rate, len(cap)).astype(np.float64)
    fits = np.minimum(1.0, cap / np.maximum(used, cap * 1e-9))
    fresh = allocation.freshness(rate * fits[pages.host], pages.lam_per_day)
    return float(np.average(fresh, weights=pages.weight))


def _clipped_row(pages: Population, times: float, seed: int) -> Row:
    limit = limit_of(pages, times)
    value = clipped(pages, limit.cap, _BUDGET)
    return limit.row(times, seed) | {
        "policy": _CLIPPED, "ratio": value / limit.best, "value": value, "unused": 0.0, "abandoned": 0, "waiting": 0,
        "seconds": 0.0,
    }  # fmt: skip


def _reached(rows: list[Row], label: str) -> list[float]:
    return [mean(rows, policy=label, times=times) for times in _TIMES]


def _waiting(rows: list[Row]) -> Claim:
    """Return how many pages wait to be read for the first time at the end, on hosts whose limits are used up."""
    told = list[str]()
    for kind in (_KNOWN, _LEARNED):
        counts = [mean(rows, "waiting", policy=kind.label, times=times) for times in _TIMES]
        told.append(f"{kind.label}: " + ", ".join(f"{count:.0f}" for count in counts))
    return Claim("pages that wait unread at the end, on hosts whose limits are used up", "", "; ".join(told), None)


def _panel(rows: list[Row]) -> Panel:
    places = [float(place) for place in range(len(_TIMES))]
    curves = [
        Curve(label, places, _reached(rows, label), ours=label == _LEARNED.label)
        for label in (_CLIPPED, *(kind.label for kind in _KINDS))
    ]
    said = tuple(f"{times:g} times its equal part" for times in _TIMES)
    return Panel("host limits", "what each host allows", "part of the optimum", curves, bars=True, named=said)
