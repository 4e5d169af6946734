"""Comparison of policies over replays of one history, with confidence intervals."""

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.calibration import Calibration
from evercrawl.errors import ConfigError
from evercrawl.lab.backtest.bootstrap import interval, medians, over_sites, resampled
from evercrawl.lab.backtest.replayed import Replayed
from evercrawl.lab.backtest.rows import Mean, ReplayRow
from evercrawl.types import Floats, Ints

Flags = NDArray[np.bool_]

FLOOR: Final = "uniform"
CEILING: Final = "notices"
"""The ends of the gap that policies close: a policy without knowledge, and one that knows which copies are stale."""


class OfSite(NamedTuple):
    """A row for each replay of a history, with its bootstrap draws, shape (draws, replays).

    `others` are content freshness, age, and share of wasted polls, shape (draws, replays, 3).
    """

    rows: list[ReplayRow]
    freshness: Floats
    gap_closed: Floats
    others: Floats


def of_site(runs: Sequence[Replayed], cluster: Ints, seed: int) -> OfSite:
    """Return the rows for replays of one history.

    Parameters
    ----------
    runs
        Replays of the same pages, policy by policy within each budget; the first policy is the baseline.
    cluster
        Number of each page's cluster, shape (pages,).
    seed
        The random seed.

    Raises
    ------
    ConfigError
        No page existed in the measured part.
    """
    there = runs[0].weight * runs[0].alive_s > 0
    if not there.any():
        raise ConfigError(f"no page of {runs[0].site} exists in the measured part; replay another part, or more pages")
    cluster = np.unique(cluster[there], return_inverse=True)[1].astype(np.int64)
    sums = np.stack([of[there] for run in runs for of in _columns(run)], 1)
    drawn = resampled(sums, cluster, seed)
    of_all = _parts(np.concatenate([sums.sum(0, keepdims=True), drawn]))  # the first row is the sample itself
    of_all = of_all.reshape(len(of_all), len(runs), -1)
    every, others = of_all[..., 0], of_all[1:, :, 1:]
    less, gaps = every - every[:, _first(runs)], _gaps(every, runs)
    n = int(cluster.max()) + 1
    rows = [
        _row(run, every[1:, at], less[:, at], float(gaps[0, at]), int(there.sum()), n, others[:, at],
             medians(*_sights(run, there, cluster), n, seed))
        for at, run in enumerate(runs)
    ]  # fmt: skip
    return OfSite(rows, every[1:], gaps[1:], others)


def sites_of(run: Replayed, site: Ints) -> list[int]:
    """Return the numbers of the sites with pages in the measured part, the largest first.

    Parameters
    ----------
    run
        A replay of all sites.
    site
        Number of each page's site, shape (pages,).
    """
    numbers, sizes = np.unique(site[run.weight * run.alive_s > 0], return_counts=True)
    largest: list[int] = numbers[np.argsort(-sizes, kind="stable")].tolist()
    return largest


def part(runs: Sequence[Replayed], cluster: Ints, site: Ints, number: int, name: str, seed: int) -> OfSite:
    """Return the rows for one site of the replays of one history.

    Parameters
    ----------
    runs, cluster, seed
        As in `of_site`.
    site
        Number of each page's site, shape (pages,).
    number, name
        Number and name of the site.
    """
    pages = np.flatnonzero(site == number)
    return of_site([run.of(number, pages, name) for run in runs], cluster[pages], seed)


def means(sites: Sequence[OfSite], seed: int) -> list[Mean]:
    """Return the means over the sites, for each policy and budget, in the order of the rows."""
    freshness = over_sites(np.stack([site.freshness for site in sites]), seed)
    gaps = over_sites(np.stack([site.gap_closed for site in sites]), seed)
    less = freshness - freshness[:, _first(sites[0].rows)]
    others = np.stack([over_sites(np.stack([site.others[..., k] for site in sites]), seed) for k in range(3)], -1)
    return [
        _mean([site.rows[at] for site in sites], freshness[:, at], less[:, at], gaps[:, at], others[:, at])
        for at in range(len(sites[0].rows))
    ]


def _row(
    run: Replayed, drawn: Floats, less: Floats, gap: float, pages: int, clusters_drawn: int, others: Floats,
    sights_drawn: Floats,
) -> ReplayRow:  # fmt: skip
    """Return a row; the first entry of `less` is the difference itself, the others are draws."""
    alive_s = float(run.weight @ run.alive_s)
    every = np.ones(len(run.weight), np.bool_)
    sights, _ = _sights(run, every, np.zeros(len(run.weight), np.int64))
    polls, unchanged = int(run.polls.sum()), int(run.unchanged.sum())
    return ReplayRow(
        run.site, run.policy, run.budget,
        float(run.weight @ run.fresh_s) / alive_s,
        float(run.weight @ run.content_fresh_s) / alive_s,
        float(run.weight @ run.stale_s2) / alive_s,
        polls, unchanged,
        *interval(drawn), float(less[0]), *interval(less[1:]), gap,
        float(np.sort(sights)[len(sights) // 2]) if len(sights) else math.nan,
        int(run.unseen.sum()), pages, clusters_drawn,
        run.calibration.expected_error, run.calibration.brier, run.elapsed_s, run.calibration,
        *interval(others[:, 0]), *interval(others[:, 1]),
        unchanged / polls if polls else math.nan, *interval(others[:, 2]), *interval(sights_drawn),
    )  # fmt: skip


def _mean(rows: Sequence[ReplayRow], freshness: Floats, less: Floats, gaps: Floats, others: Floats) -> Mean:
    def mean(name: str) -> float:
        values = np.array([getattr(row, name) for row in rows], np.float64)
        return float(np.mean(values[~np.isnan(values)])) if not np.isnan(values).all() else math.nan

    return Mean(
        rows[0].policy, rows[0].budget, mean("freshness"), *interval(freshness),
        mean("difference"), *interval(less), mean("content_freshness"), mean("age_s"),
        mean("gap_closed"), *interval(gaps), sum(row.difference > 0 for row in rows), len(rows),
        sum(row.polls for row in rows), sum(row.unchanged for row in rows),
        Calibration.together(row.calibration for row in rows),
        *interval(others[:, 0]), *interval(others[:, 1]), mean("wasted"), *interval(others[:, 2]),
    )  # fmt: skip


def _columns(run: Replayed) -> tuple[Floats, ...]:
    """Return pairs of columns, total and counted part: for freshness, content freshness, age, and wasted polls."""
    alive = run.weight * run.alive_s
    return (
        alive, run.weight * run.fresh_s, alive, run.weight * run.content_fresh_s, alive, run.weight * run.stale_s2,
        run.polls.astype(np.float64), run.unchanged.astype(np.float64),
    )  # fmt: skip


def _sights(run: Replayed, pages: Flags, cluster: Ints) -> tuple[Floats, Ints]:
    """Return the times from birth to first sight of pages born in the replay, infinity if unseen; and the clusters."""
    sights = np.where(run.unseen, math.inf, run.first_sight_s)[pages]
    born = ~np.isnan(sights)
    return sights[born], cluster[born]


def _parts(sums: Floats) -> Floats:
    """Return the counted share of each pair of columns (total, counted part); nan if the total is 0."""
    there = sums[:, ::2]
    return np.asarray(np.divide(sums[:, 1::2], there, out=np.full(there.shape, math.nan), where=there > 0))


def _first(runs: Iterable[Replayed | ReplayRow]) -> Ints:
    """Return for each run the index of the first run at the same budget."""
    first = dict[float, int]()
    return np.array([first.setdefault(run.budget, at) for at, run in enumerate(runs)])


def _gaps(freshness: Floats, runs: Sequence[Replayed]) -> Floats:
    """Return the share of the gap closed, shape (draws, runs); nan if there is no gap."""
    place = {(run.policy, run.budget): at for at, run in enumerate(runs)}
    gaps = np.full(freshness.shape, math.nan)
    for at, run in enumerate(runs):
        ends = place.get((FLOOR, run.budget)), place.get((CEILING, run.budget))
        if ends[0] is not None and ends[1] is not None:
            floor, gap = freshness[:, ends[0]], freshness[:, ends[1]] - freshness[:, ends[0]]
            np.divide(freshness[:, at] - floor, gap, out=gaps[:, at], where=gap > 0)
    return gaps
