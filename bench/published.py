"""Published policies on recorded histories, beside what was measured of them before, by other code.

    python bench/published.py HISTORIES --budget 0.005 --budget 0.02
    python bench/published.py HISTORIES --budget 0.005 --begun

HISTORIES is a folder of histories; what was measured is the mean of nine of them. By `--begun` a replay begins with all
pages read that there are, out of the budget: at 0.005 a page and day three years are five and a half cycles, of which a
crawl that begins with nothing spends the first, or with a share for new pages all, on what it has never seen. Exits 1
where a policy reaches less than was measured by more than 0.03; of one that can be read in two ways, where both do.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from evercrawl import catalog, schedule
from evercrawl.lab.backtest.replay import Replay
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.truth import GONE
from evercrawl.lab.histories import History, find, read
from evercrawl.lab.polling.beliefs import PollingBeliefs
from evercrawl.schedule.base import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evercrawl.types import Floats

STILL: Final = 1e-20  # changes a second of a page that never does
WITHIN: Final = 0.03
BUDGETS: Final = (0.005, 0.02, 0.1, 0.5)


class Published(NamedTuple):
    """A policy, values for its parameters, and what was measured at each of the budgets."""

    policy: str
    options: Mapping[str, float | str]
    measured: tuple[float, float, float, float]


ALL: Final = {
    "uniform": Published("uniform", {}, (0.791, 0.922, 0.976, 0.993)),
    "importance_proportional": Published("importance_proportional", {}, (0.812, 0.933, 0.982, 0.994)),
    "nutch_adaptive": Published("nutch_adaptive", {}, (0.768, 0.861, 0.887, 0.889)),
    "nutch_adaptive, stretch=0": Published("nutch_adaptive", {"stretch": 0}, (0.768, 0.861, 0.887, 0.889)),
    "nutch_adaptive, all used": Published("nutch_adaptive", {"work_conserving": 1}, (0.789, 0.896, 0.974, 0.993)),
    "stormcrawler_adaptive": Published("stormcrawler_adaptive", {}, (0.781, 0.922, 0.974, 0.976)),
    "tianwang": Published("tianwang", {}, (0.718, 0.778, 0.804, 0.755)),
    "chile": Published("chile", {}, (0.766, 0.872, 0.964, 0.991)),
    "optimal, rates by (13)": Published("optimal", {"estimator": "log_corrected"}, (0.600, 0.748, 0.955, 0.991)),
    "optimal, average rates known": Published("optimal", {}, (0.789, 0.913, 0.973, 0.992)),
    "price_gamma": Published("price_gamma", {}, (0.817, 0.937, 0.984, 0.996)),
}
KNOWN: Final = "optimal, average rates known"
READINGS: Final = {"nutch_adaptive", "nutch_adaptive, stretch=0"}
"""The same policy, as its code has it and as its documentation does; what was measured is that of one of them."""


class Begun(Replay):
    """A replay that begins with every page read that there is."""

    def run(self, tell: Callable[[float], object] | None = None) -> None:
        """Read them, then go on as usual."""
        start = self._pages.start
        self.held.pass_to(start)
        self._find(start)
        rows = np.flatnonzero(self._births.there)
        self._candidates.unread -= len(rows)
        self._polls.make(rows, np.full(len(rows), start))
        super().run(tell)


def main() -> int:
    """Print a row for each policy and budget; return 1 when one is weak."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", help="a folder of them")
    parser.add_argument("--without", default="pyar-wiki", help="histories left out, such as a,b (default: pyar-wiki)")
    parser.add_argument("--budget", type=float, action="append", choices=BUDGETS, help="may be repeated")
    parser.add_argument("--policy", action="append", choices=list(ALL), help="may be repeated (default: all)")
    parser.add_argument("--begun", action="store_true", help="begin with all pages read")
    o = parser.parse_args()
    paths = [path for path in find(o.histories) if path.name not in o.without.split(",")]
    weak = 0
    for budget in o.budget or BUDGETS[:2]:
        short_of = set[str]()
        for label in o.policy or ALL:
            reached = [freshness(read(path), label, budget, begun=o.begun) for path in paths]
            mean, measured = statistics.fmean(reached), ALL[label].measured[BUDGETS.index(budget)]
            short = mean < measured - WITHIN
            if short:
                short_of.add(label)
            each = " ".join(f"{one:.3f}" for one in reached)
            print(f"{budget:<6g}{label:30} {mean:.3f} ({measured:.3f}){' WEAK' if short else ''}  {each}", flush=True)
        readings = READINGS.intersection(o.policy or ALL)
        weak += len(short_of - READINGS) + (bool(readings) and readings <= short_of)
    return int(weak > 0)


def freshness(history: History, label: str, budget: float, *, begun: bool) -> float:
    """Replay one history under one policy."""
    kind: type[Any] = catalog.pick(schedule.policies, Policy, ALL[label].policy)
    made = (Begun if begun else Replay)(history, kind(**ALL[label].options), ReplaySetting(budget))
    if label == KNOWN:
        made.held.beliefs = PollingBeliefs(made.world.host, rates_per_s(made), forget=0.0, cycle_s=1.0)
    made.run()
    return made.replayed(history.name, label, 0.0).freshness


def rates_per_s(made: Replay) -> Floats:
    """Return how often each page changes, on the mean over all of the time that it is there in the replay."""
    pages = made._pages  # pyright: ignore[reportPrivateUsage]
    page = np.repeat(np.arange(len(pages)), np.diff(pages.first))
    there, later = pages.state != GONE, np.r_[False, page[1:] == page[:-1]]
    ends = np.r_[pages.at[1:], pages.end]
    ends = np.where(np.r_[page[1:] != page[:-1], True], pages.end, ends)
    differs = later & there & (pages.state != np.r_[GONE, pages.state[:-1]]) & np.r_[False, there[:-1]]
    changes = np.bincount(page[differs], minlength=len(pages))
    alive_s = np.bincount(page, np.where(there, ends - pages.at, 0.0), minlength=len(pages))
    return np.maximum(changes / np.maximum(alive_s, 1.0), STILL)


if __name__ == "__main__":
    sys.exit(main())
