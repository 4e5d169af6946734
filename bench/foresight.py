"""Why the default policy gains less than the best fixed intervals: what the past does not tell, and what polls miss.

    python bench/foresight.py HISTORIES --site ota-contrib

HISTORIES is a folder of histories. Each page is polled at an interval of its own throughout the measured part of a
replay. The intervals are the best ones for what is known, for the same number of polls:

* hindsight: all changes of the measured part (see hindsight.py);
* rates: how often each page changes in the measured part, but not when;
* seen: every change before the measured part, with its time;
* polled: of these changes what polls of all pages at one interval show, which are as many as the budget allows;
* to the end: the same, with such polls of the measured part too.

All but the first take changes to be random; the last three go by a Gamma posterior of each page's rate, whose prior is
the mean of the site. So hindsight minus rates is luck, rates minus seen is what the past does not tell of a page's
rate, and seen minus polled is the error of estimates from few polls. (It can be negative: polls see a burst as one
change, which suits a model of random changes better.) What `price`, or another `--policy`, has less than polled is lost
by exploring; what it has more is gained by polling soon after changes, and by learning in the measured part.

The columns are shares of the gap from uniform polling to `notices`, which is told what is stale; pages have validators.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from hindsight import BUDGETS, INTERVALS_S, allotted, best_freshness, freshness, stretches

from evercrawl.change import gamma
from evercrawl.change.prior import SHAPE
from evercrawl.lab.backtest.replay import replay
from evercrawl.lab.backtest.report import CEILING, FLOOR
from evercrawl.lab.backtest.setting import DAY_S, ReplaySetting
from evercrawl.lab.backtest.truth import GONE, Truth, truth
from evercrawl.lab.backtest.weights import weights
from evercrawl.lab.histories import History, find, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.types import Floats

COLUMNS: Final = ("hindsight", "rates", "seen", "polled", "to the end")
_SURE: Final = 1e6  # shape of a rate that is known


def main() -> int:
    """Print a line for each history and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", help="a folder of them")
    parser.add_argument("--site", action="append", help="only this history; may be repeated")
    parser.add_argument("--budget", type=float, action="append", help="may be repeated (default: 0.005, 0.02 and 0.1)")
    parser.add_argument("--policy", default="price")
    o = parser.parse_args()
    print(f"{'site':<16}{'budget':>8}" + "".join(f"{name:>12}" for name in (*COLUMNS, o.policy)))
    for path in find(o.histories):
        if path.name in (o.site or [path.name]):
            history = read(path)
            for budget in sorted(o.budget or BUDGETS):
                cells = "".join(f"{share:12.3f}" for share in shares(history, budget, o.policy))
                print(f"{path.name:<16}{budget:>8g}{cells}", flush=True)
    return 0


def shares(history: History, budget: float, policy: str) -> Iterable[float]:
    """Yield the share of the gap that each column closes, and that the policy does."""
    setting = ReplaySetting(budget)
    pages = truth(history, setting)
    lived, weight, interval_s = stretches(pages), weights(history, pages), DAY_S / budget
    floor, ceiling, own = (replay(history, name, setting).freshness for name in (FLOOR, CEILING, policy))
    alike = freshness(lived, weight, np.full(len(pages), interval_s))
    yield (best_freshness(lived, weight, budget) - alike) / (ceiling - floor)
    alive_s = np.bincount(lived.page, lived.until_s - lived.since_s, len(pages))
    before, after = seen(pages, pages.start, pages.measured_at), seen(pages, pages.measured_at, pages.end)
    prior = usual(before)
    exact = Rates(np.full(len(pages), _SURE), _SURE * after.scale_s / np.maximum(after.shape, 0.1))
    known = Rates(before.shape + prior.shape, before.scale_s + prior.scale_s)
    for rates in (exact, known, *(polled(pages, prior, until, interval_s) for until in (pages.measured_at, pages.end))):
        best_s = allotted(weight * rates.fresh() * alive_s, alive_s, budget)
        yield (freshness(lived, weight, best_s) - alike) / (ceiling - floor)
    yield (own - floor) / (ceiling - floor)


class Rates(NamedTuple):
    """Gamma posteriors of the rates of pages, or changes and observed times; shape (pages,) each."""

    shape: Floats
    scale_s: Floats

    def fresh(self) -> Floats:
        """Return the mean freshness of copies for each of `INTERVALS_S`, shape (intervals, pages).

        Examples
        --------
        >>> once_a_day = Rates(np.array([1e9]), np.array([1e9 * DAY_S]))
        >>> near_a_day = np.abs(INTERVALS_S - DAY_S).argmin()
        >>> round(float(once_a_day.fresh()[near_a_day, 0]), 2)  # 1 - 1 / e
        0.63
        """
        power = np.where(self.shape == 1.0, 1e-9, 1.0 - self.shape)
        length = np.log1p(INTERVALS_S[:, None] / self.scale_s)
        held: Floats = np.expm1(power * length) / power * self.scale_s / INTERVALS_S[:, None]
        return held


def seen(pages: Truth, since: float, until: float) -> Rates:
    """Return how many changes pages made in a time, and how long they existed in it.

    A page that comes back counts as new.
    """
    n, page = len(pages), np.repeat(np.arange(len(pages)), np.diff(pages.first))
    first, there = np.r_[True, page[1:] != page[:-1]], pages.state != GONE
    ends = np.where(np.r_[first[1:], True], pages.end, np.r_[pages.at[1:], pages.end])
    lasted_s = np.maximum(np.minimum(ends, until) - np.maximum(pages.at, since), 0.0)
    differs = there & np.r_[False, there[:-1] & (pages.state[1:] != pages.state[:-1])]  # or only the recorder changed
    changed = ~first & differs & (pages.at > since) & (pages.at <= until)
    return Rates(np.bincount(page[changed], minlength=n).astype(np.float64), np.bincount(page, lasted_s * there, n))


def usual(before: Rates) -> Rates:
    """Return the prior of each page: the mean rate of the site, and how widely rates spread elsewhere."""
    rate_per_s = (before.shape.sum() + 1.0) / before.scale_s.sum()
    return Rates(np.full(len(before.shape), SHAPE), np.full(len(before.shape), SHAPE / rate_per_s))


def polled(pages: Truth, prior: Rates, until: float, interval_s: float) -> Rates:
    """Return the posteriors after all pages were polled at one interval, each with a random phase."""
    rates = prior
    born_at = np.maximum(pages.at[pages.first[:-1]], pages.start)
    at = born_at + np.where(born_at > pages.start, 0.0, np.random.default_rng(1).random(len(pages)) * interval_s)
    held = _row(pages, at)
    while (at + interval_s <= until).any():
        now = _row(pages, at + interval_s)
        learns = (at + interval_s <= until) & (pages.state[held] != GONE) & (pages.state[now] != GONE)
        changed = pages.state[held] != pages.state[now]
        age_s = np.where(changed, at + interval_s - pages.modified_at[now], np.nan)
        shape, scale_s = gamma.learn_many(*rates, np.full(len(pages), interval_s), changed, age_s)
        rates = Rates(np.where(learns, shape, rates.shape), np.where(learns, scale_s, rates.scale_s))
        at, held = at + interval_s, now
    return rates


def _row(pages: Truth, at: Floats) -> np.ndarray:
    """Return the row of each page's version at an instant of its own."""
    span = pages.end - pages.start + 1.0
    page = np.repeat(np.arange(len(pages)), np.diff(pages.first))
    keys = page * span + (np.maximum(pages.at, pages.start) - pages.start)
    asked = np.arange(len(pages)) * span + np.minimum(at - pages.start, span - 1.0)
    return np.maximum(np.searchsorted(keys, asked, side="right") - 1, pages.first[:-1])


if __name__ == "__main__":
    sys.exit(main())
