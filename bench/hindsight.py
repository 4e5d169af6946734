"""How much polling at fixed intervals gains if each page has the interval that turns out best: what timing is worth.

    python bench/hindsight.py HISTORIES
    python bench/hindsight.py HISTORIES --site ota-contrib --budget 0.1

HISTORIES is a folder of histories. For each of them and each budget, the command chooses the interval of each page with
all its changes of the measured part in view, so that the weighted freshness is highest for the same number of polls.
No policy knows these intervals beforehand. What a policy gains beyond them is due to timing, to polling soon after
changes; where it gains less, it has not learned the rates. Polls have random phases, and a new page is fresh at first.

The columns are points over polling all pages at one interval, and the gap closed: these points divided by the gain of
`notices`, which is told what is stale, over uniform polling. `price`, or another `--policy`, is replayed beside it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from kept_replays import KeptReplays

from evercrawl.lab.backtest.report import CEILING, FLOOR, of_site
from evercrawl.lab.backtest.runs import make, planned
from evercrawl.lab.backtest.setting import DAY_S, ReplaySetting, choices
from evercrawl.lab.backtest.truth import GONE, Truth, truth
from evercrawl.lab.backtest.weights import weights
from evercrawl.lab.histories import find, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.types import Floats, Ints

BUDGETS: Final = (0.005, 0.02, 0.1)
INTERVALS_S: Final = np.geomspace(0.02, 30_000.0, 160) * DAY_S
"""The intervals among which each page has its best."""
_HALVINGS: Final = 80


def main() -> int:
    """Print a line for each history and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", help="a folder of them")
    parser.add_argument("--site", action="append", help="only this history; may be repeated")
    parser.add_argument("--without", default="pyar-wiki", help="histories left out, such as a,b (default: pyar-wiki)")
    parser.add_argument("--budget", type=float, action="append", help="may be repeated (default: 0.005, 0.02 and 0.1)")
    parser.add_argument("--policy", default="price")
    parser.add_argument("--runs", type=Path, help="keep replays in this folder, and go on from what it has")
    o = parser.parse_args()
    o.budget = sorted(o.budget or BUDGETS)
    print(f"{'site':<16}{'budget':>8}  best intervals, gap  {o.policy}, gap")
    for path in find(o.histories):
        if path.name in (o.site or [path.name]) and path.name not in o.without.split(","):
            for line in lines(path, o):
                print(line, flush=True)
    return 0


def lines(path: Path, o: argparse.Namespace) -> Iterable[str]:
    """Yield what is printed of a history, budget by budget."""
    history = read(path)
    pages = truth(history, ReplaySetting(o.budget[0]))
    lived, weight = stretches(pages), weights(history, pages)
    plan = planned([(path,)], choices([o.policy, FLOOR, CEILING]), o.budget, ReplaySetting(o.budget[0]))
    made = [*KeptReplays(o.runs).made([run for group in plan for run in group], lambda left: make(left, 1))]
    rows = {
        (row.policy, row.budget): row for row in of_site([each.replayed for each in made], made[0].cluster, seed=1).rows
    }
    for budget in o.budget:
        floor = rows[FLOOR, budget].freshness
        gap, gained = rows[CEILING, budget].freshness - floor, rows[o.policy, budget].freshness - floor
        best = best_freshness(lived, weight, budget) - freshness(lived, weight, np.full(len(weight), DAY_S / budget))
        told = f"{100 * best:+14.2f} {best / gap:4.2f}  {100 * gained:+7.2f} {gained / gap:4.2f}"
        yield f"{path.name:<16}{budget:>8g}  {told}"


@dataclass(frozen=True)
class Stretches:
    """The times in the measured part of a replay during which pages did not change.

    Attributes
    ----------
    page
        Whose, shape (n,).
    since_s, until_s
        Seconds since the change before, at its beginning and at its end; shape (n,).
    new
        Whether the page appeared with it, so that its copy was made then; shape (n,).
    """

    page: Ints
    since_s: Floats
    until_s: Floats
    new: np.ndarray


def stretches(pages: Truth) -> Stretches:
    """Return those of all pages, from the start of the measured part."""
    page = np.repeat(np.arange(len(pages)), np.diff(pages.first))
    first = np.r_[True, page[1:] != page[:-1]]
    ends = np.where(np.r_[first[1:], True], pages.end, np.r_[pages.at[1:], pages.end])
    new = np.where(first, pages.at > pages.start, np.r_[False, pages.state[:-1] == GONE])
    begins, changed_at = np.maximum(pages.at, pages.measured_at), np.minimum(pages.modified_at, pages.at)
    counts = (ends > begins) & (pages.state != GONE)
    return Stretches(page[counts], (begins - changed_at)[counts], (ends - changed_at)[counts], new[counts])


def fresh_s(lived: Stretches, interval_s: Floats) -> Floats:
    """Return for how long a copy is fresh in each stretch, if its page is polled at an interval with a random phase.

    A copy is fresh `a` seconds after a change with probability min(1, a / interval).

    Examples
    --------
    >>> day = Stretches(np.array([0, 0]), np.array([0.0, 0.0]), np.array([10.0, 10.0]), np.array([False, True]))
    >>> fresh_s(day, np.array([4.0, 4.0])).tolist(), fresh_s(day, np.array([20.0, 20.0])).tolist()
    ([8.0, 10.0], [2.5, 10.0])
    """

    def until(age_s: Floats) -> Floats:
        return np.where(age_s < interval_s, age_s**2 / (2 * interval_s), age_s - interval_s / 2)

    lasts_s = lived.until_s - lived.since_s
    return np.where(lived.new, lasts_s, until(lived.until_s) - until(lived.since_s))


def freshness(lived: Stretches, weight: Floats, interval_s: Floats) -> float:
    """Return the weighted freshness, if pages are polled at these intervals, shape (pages,)."""
    of_each = weight[lived.page]
    whole = of_each @ (lived.until_s - lived.since_s)
    return float(of_each @ fresh_s(lived, interval_s[lived.page]) / whole)


def best_freshness(lived: Stretches, weight: Floats, budget: float) -> float:
    """Return the highest weighted freshness for as many polls per page and day; each poll is worth one price."""
    return freshness(lived, weight, best_intervals(lived, weight, budget))


def best_intervals(lived: Stretches, weight: Floats, budget: float) -> Floats:
    """Return the interval of each page for the highest weighted freshness, shape (pages,)."""
    n = len(weight)
    alive_s = np.bincount(lived.page, lived.until_s - lived.since_s, n)
    fresh = [np.bincount(lived.page, fresh_s(lived, np.full(len(lived.page), each)), n) for each in INTERVALS_S]
    return allotted(weight * np.stack(fresh), alive_s, budget)


def allotted(worth: Floats, alive_s: Floats, budget: float) -> Floats:
    """Return the interval of each page for the highest sum of worths within a budget; each poll costs one price.

    Parameters
    ----------
    worth
        What each of `INTERVALS_S` is worth for each page, shape (intervals, pages).
    alive_s
        How long each page is polled, shape (pages,).
    budget
        Polls per page and day.
    """
    n, polls = len(alive_s), alive_s / INTERVALS_S[:, None]
    low, high = -80.0, 80.0  # logarithms of the price of a poll
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        chosen = np.argmax(worth - np.exp(middle) * polls, axis=0)
        enough = polls[chosen, np.arange(n)].sum() <= budget * alive_s.sum() / DAY_S
        low, high = (low, middle) if enough else (middle, high)
    interval_s: Floats = INTERVALS_S[np.argmax(worth - np.exp(high) * polls, axis=0)]
    return interval_s


if __name__ == "__main__":
    sys.exit(main())
