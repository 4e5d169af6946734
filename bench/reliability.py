"""How true P(fresh) is on recorded histories, and how much of its error is chance.

    python bench/reliability.py HISTORIES
    python bench/reliability.py HISTORIES --budget 0.02 --site tldr

HISTORIES is a folder of histories. For each of them the command prints the error of P(fresh): the mean difference
between what the policy states of copies and how many of them are fresh, over twenty bins of P(fresh). Even a policy
that knew each probability would not have an error of zero. Two amounts of it are printed:

* copies alone: each copy is fresh or not by its own chance, independently of all others;
* batches: the deviations of each month keep their sizes, but are up or down by chance, together for the whole site.
  Pages change in batches, so one batch that comes a little sooner than usual makes all predictions of a month wrong in
  the same direction. This is the error that would be left if over many months neither direction prevailed.

Then come the mean statement and the share of fresh copies, by the statement (in tenths) and by how often the page was
polled before in the measured part.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

import numpy as np

from evercrawl.change.calibration import BINS
from evercrawl.lab.backtest import polls
from evercrawl.lab.backtest.calibrations import Calibrations
from evercrawl.lab.backtest.replay import replay
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.histories import History, find, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.types import Flags, Floats, Ints

MONTHS: Final = 24
"""The budget is spent evenly over the two measured years, so a month is as many polls."""
_DRAWS: Final = 200
_BEFORE: Final = (0, 1, 2, 4, 8)


class Stated(Calibrations):
    """Keeps each prediction, beside counting them.

    Attributes
    ----------
    made
        Pages, P(fresh), and whether the copies were fresh; one for each call of `add`.
    """

    last: Stated

    def __init__(self, site: Ints) -> None:
        super().__init__(site)
        self.made = list[tuple["Ints", "Floats", "Flags"]]()
        Stated.last = self

    def add(self, rows: Ints, said: Floats, fresh: Flags) -> None:
        """Add predictions for copies, and whether they were fresh."""
        self.made.append((rows.copy(), said.copy(), fresh.copy()))
        super().add(rows, said, fresh)


def main() -> int:
    """Print the error of each site, and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", help="a folder of them")
    parser.add_argument("--site", action="append", help="only this history; may be repeated")
    parser.add_argument("--without", default="pyar-wiki", help="histories left out, such as a,b (default: pyar-wiki)")
    parser.add_argument("--budget", type=float, default=0.005)
    parser.add_argument("--policy", default="price")
    o = parser.parse_args()
    paths = [path for path in find(o.histories) if path.name not in o.without.split(",")]
    paths = [path for path in paths if path.name in (o.site or [path.name])]
    for validators in (True, False):
        print(f"\n{'validators' if validators else 'no validators'}, {o.budget:g}: error, copies alone, batches")
        rows = list[tuple[float, float, float]]()
        for path in paths:
            page, said, fresh = stated(read(path), o.policy, ReplaySetting(o.budget, validators=validators))
            rows.append(errors(said, fresh))
            print(f"{path.name:<16}{len(said):>8,}" + "".join(f"{each:8.3f}" for each in rows[-1]), flush=True)
            print("    by statement  " + "  ".join(by((10 * said).astype(np.int64), said, fresh, range(11))))
            print("    polled before " + "  ".join(by(before(page), said, fresh, _BEFORE)))
        print(f"{'mean':<24}" + "".join(f"{each:8.4f}" for each in np.mean(rows, axis=0)))
    return 0


def stated(history: History, policy: str, setting: ReplaySetting) -> tuple[Ints, Floats, Flags]:
    """Return the page, P(fresh) and whether the copy was fresh, of each poll of the measured part, in order."""
    with patch.object(polls, "Calibrations", Stated):
        replay(history, policy, setting)
    page, said, fresh = (np.concatenate(column) for column in zip(*Stated.last.made, strict=True))
    return page, said, fresh


def errors(said: Floats, fresh: Flags) -> tuple[float, float, float]:
    """Return the error, and its mean by the chance of copies alone and of batches.

    Examples
    --------
    Half of the copies are fresh, as stated; in each month all of them are, or none.

    >>> said, fresh = np.full(24_000, 0.5), np.arange(24) % 2 == 0
    >>> [round(each, 2) for each in errors(said, np.repeat(fresh, 1_000))]
    [0.0, 0.0, 0.08]
    """
    draw, off = np.random.default_rng(1), said - fresh
    month = np.arange(len(said)) * MONTHS // len(said)
    alone = [error(said, said - (draw.random(len(said)) < said)) for _ in range(_DRAWS // 10)]
    batches = [error(said, off * draw.choice([-1.0, 1.0], MONTHS)[month]) for _ in range(_DRAWS)]
    return error(said, off), float(np.mean(alone)), float(np.mean(batches))


def error(said: Floats, off: Floats) -> float:
    """Return the expected calibration error from the statements, and by how much each was too high."""
    place = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    return float(np.abs(np.bincount(place, off, BINS)).sum() / len(said))


def before(page: Ints) -> Ints:
    """Return how often the page of each poll was polled before.

    Examples
    --------
    >>> before(np.array([3, 3, 1, 3])).tolist()
    [0, 1, 0, 2]
    """
    order = np.argsort(page, kind="stable")
    first = np.searchsorted(page[order], page[order])
    times = np.empty(len(page), np.int64)
    times[order] = np.arange(len(page)) - first
    return times


def by(key: Ints, said: Floats, fresh: Flags, lows: Iterable[int]) -> Iterable[str]:
    """Yield the lowest key of each group, its number of polls, the mean statement and the share of fresh copies."""
    low = np.array([*lows])
    group = np.searchsorted(low, key, side="right") - 1
    for k in np.unique(group):
        here = group == k
        yield f"{low[k]}: {here.sum():,} {said[here].mean():.2f} {fresh[here].mean():.2f}"


if __name__ == "__main__":
    sys.exit(main())
