"""Hosts that allow only so many visits: how near to the best that their limits leave possible."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.lab.base import Claim, Curve, Experiment, Findings, Panel
from evercrawl.lab.contest import PAGES, TURNS, mean, plain, populations
from evercrawl.lab.contestants import Contestant
from evercrawl.lab.promises import abandons_none, whole
from evercrawl.schedule import allocation
from evercrawl.simulate.polling import Conditions, Polling
from evercrawl.simulate.population import HOSTS

if TYPE_CHECKING:
    from evercrawl.lab.base import Options, Row, Say
    from evercrawl.schedule.allocation import Constrained
    from evercrawl.simulate.population import Population
    from evercrawl.types import Floats

_BUDGET: Final = 0.1
_TIMES: Final = (4.0, 2.0)  # a host's equal part of the budget, which it allows at most
_TICKS: Final = 400
_LEAST: Final = 0.97
_GAMMA, _KNOWN, _LEARNED = "price_gamma, known rates", "price, known rates", "price"
_CLIPPED: Final = "clipped optimum"
_RUN: Final = ((_GAMMA, "price_gamma", True), (_KNOWN, "price", True), (_LEARNED, "price", False))


class Caps(Experiment):
    """How much of the constrained optimum is reached where each host allows only so many visits a day.

    The clipped optimum gives pages the rates they would have without limits, and each host's pages less where that is
    too much. Printed, for other hosts and limits: 0.982 and 0.993 for the best visit that is allowed, 0.747 and 0.844
    clipped. Pages that were not read yet on a host whose limit is used up wait; they are not abandoned.
    """

    pages = PAGES
    turns = TURNS

    def run(self, options: Options, say: Say) -> Findings:
        """Run with rates known and learned, under two limits."""
        plain(options, "caps")
        rows = list["Row"]()
        for _, seed, pages in populations(options, (0.0,)):
            for times in _TIMES:
                say(f"{times:g} times a host's equal part, seed {seed}")
                rows += _rows(pages, times, seed, float(options.turns or TURNS))
        promised = whole(options)
        found = Findings("Host limits, as a part of the constrained optimum", rows, panels=[_panel(rows)])
        for label, _, known in _RUN:
            reached = [mean(rows, policy=label, times=times) for times in _TIMES]
            told = ", ".join(f"{each:.3f}" for each in reached)
            said = f"(ours) at least {_LEAST}" if known else ""
            holds = min(reached) >= _LEAST if known else None
            found.claims.append(Claim(f"{label}, under limits", said, told, holds, promised and known))
        worse = [mean(rows, policy=_CLIPPED, times=times) for times in _TIMES]
        told = ", ".join(f"{each:.3f}" for each in worse)
        best = [mean(rows, policy=_GAMMA, times=times) for times in _TIMES]
        found.claims.append(
            Claim("clipping rates that know no limits is worse", "0.747, 0.844", told,
                  all(one < other for one, other in zip(worse, best, strict=True)))
        )  # fmt: skip
        found.claims += abandons_none(rows, (_KNOWN, _LEARNED), promised=promised)
        return found


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


def _rows(pages: Population, times: float, seed: int, cycles: float) -> list[Row]:
    cap = np.full(HOSTS, times * _BUDGET * len(pages) / HOSTS)
    found, best = best_within(pages, cap, _BUDGET)
    full = np.bincount(pages.host, found.rate, HOSTS) >= cap * (1 - 1e-6)
    shared: Row = {"times": times, "seed": seed, "budget": _BUDGET, "optimum": best, "saturated": int(full.sum())}
    clip = clipped(pages, cap, _BUDGET)
    none: Row = {"unused": 0.0, "abandoned": 0, "waiting": 0, "seconds": 0.0}
    rows = [shared | {"policy": _CLIPPED, "ratio": clip / best, "value": clip} | none]
    for label, policy, known in _RUN:
        began = time.perf_counter()
        one = Contestant(label, policy, {}, Conditions(known=known, cap_per_day=cap, ticks=_TICKS))
        polling = Polling(one.made(_BUDGET), pages, _BUDGET, seed, one.conditions)
        end = polling.run(cycles, cycles / 2)
        unread = np.isnan(polling.held.visited_at)
        waiting = int((unread & full[pages.host]).sum())  # their hosts had no visit left for them
        rows.append(
            shared | {"policy": label, "ratio": end.value / best, "value": end.value, "unused": end.unused,
                      "abandoned": end.abandoned - waiting, "waiting": waiting, "seconds": time.perf_counter() - began}
        )  # fmt: skip
    return rows


def _panel(rows: list[Row]) -> Panel:
    places = [float(place) for place in range(len(_TIMES))]
    curves = [
        Curve(label, places, [mean(rows, policy=label, times=times) for times in _TIMES], ours=label == _LEARNED)
        for label in (_CLIPPED, _GAMMA, _KNOWN, _LEARNED)
    ]
    said = ", ".join(f"{times:g}" for times in _TIMES)
    return Panel("host limits", f"limit, times a host's equal part: {said}", "part of the optimum", curves, bars=True)
