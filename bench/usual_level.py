"""How well sites of recorded histories predict the rates of another site, with limited votes and with a plain mean.

    python bench/usual_level.py HISTORIES [--trials 3000]

Draws sets of two or more sites, and for each set a site outside it. The level of the set is the prior of that site's
pages, as in a crawl that finds the site (`change/levels.py`). Prints the mean distance to the site's own level, in ln
of the rate, and the mean log-likelihood of whether a page has changed 30 days after its first visit.
"""

from __future__ import annotations

import argparse
import math
import random
from typing import TYPE_CHECKING, Final, NamedTuple
from unittest.mock import patch

import numpy as np

from evercrawl.change import levels
from evercrawl.change.prior import CRAWL_SITES, DEFAULT_SCALE_S, SHAPE, SitePriors
from evercrawl.lab.histories import find, read
from evercrawl.lab.histories.history import CHANGED, REMOVED

if TYPE_CHECKING:
    from evercrawl.lab.histories.history import History

WAIT_S: Final = 30 * 86_400.0
LEAST_S: Final = 86_400.0
PAGES: Final = 400
"""Maximum number of pages per site."""


class KnownSite(NamedTuple):
    """The votes of a site, its own level, and the chance that each of its pages has changed after `WAIT_S`."""

    votes: levels.Levels
    level: float
    changed: np.ndarray


def main() -> int:
    """Print the figures; return 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("histories", help="a folder of recorded histories")
    parser.add_argument("--trials", type=int, default=3000)
    o = parser.parse_args()
    sites = [known(read(path)) for path in find(o.histories)]
    draw = random.Random(1)
    trials = [draw.sample(sites, draw.randint(3, len(sites))) for _ in range(o.trials)]
    for name, span in (("limited to ln 3", levels.SPAN), ("limited to ln 10", math.log(10)), ("plain mean", 1e9)):
        with patch.object(levels, "SPAN", span):
            scores = np.array([foretold(site, others) for site, *others in trials])
        print(f"{name:<17} distance {scores[:, 0].mean():.3f}  log-likelihood {scores[:, 1].mean():.4f}")
    return 0


def known(history: History) -> KnownSite:
    """Return what a history shows of its site."""
    pages, ends_at = len(history), float(history.at.max())
    from_at = np.full(pages, ends_at)
    np.minimum.at(from_at, history.page, history.at)
    until_at = np.full(pages, ends_at)
    removed = history.op == REMOVED
    until_at[history.page[removed]] = history.at[removed]
    changes = np.bincount(history.page[history.op == CHANGED], minlength=pages).astype(np.float64)
    watched_s = until_at - from_at
    rows = np.flatnonzero(watched_s > LEAST_S)
    rows = np.random.default_rng(1).permutation(rows)[:PAGES]
    priors = SitePriors()
    priors.fit(np.zeros(len(rows), np.int64), changes[rows], watched_s[rows], np.ones(len(rows), np.bool_), 1)
    return KnownSite(priors.votes, priors.votes.mean(0.0), -np.expm1(-changes[rows] / watched_s[rows] * WAIT_S))


def foretold(site: KnownSite, others: list[KnownSite]) -> tuple[float, float]:
    """Return the distance of the level of others to a site's, and the log-likelihood of its pages' changes."""
    votes = levels.Levels()
    for other in others:
        votes = votes.plus(other.votes)
    level = votes.mean(CRAWL_SITES)
    scale_s = DEFAULT_SCALE_S * math.exp(-level)
    same = (scale_s / (scale_s + WAIT_S)) ** SHAPE
    score = site.changed * math.log1p(-same) + (1.0 - site.changed) * math.log(same)
    return abs(level - site.level), float(score.mean())


if __name__ == "__main__":
    main()
