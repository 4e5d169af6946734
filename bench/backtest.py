"""The default policy on recorded histories, beside uniform polling and one that is told what is stale; and how fast.

    python bench/backtest.py HISTORIES --jobs 4
    python bench/backtest.py HISTORIES --only gaps --earlier 2 --without pyar-wiki,disaster-feeds,sdlwiki
    python bench/backtest.py HISTORIES --only rivals --windows 5 --budget 0.005
    python bench/backtest.py HISTORIES --only speed
    python bench/backtest.py HISTORIES --only million
    python bench/backtest.py HISTORIES --only intervals
    python bench/backtest.py HISTORIES --only ablation --budget 0.02
    python bench/backtest.py HISTORIES --leave-one-out --sample 1500 --kept left-out.jsonl

HISTORIES is a folder of histories. `gaps` prints the gap closed (see evercrawl lab backtest) of each site,
with and without validators, the mean of all but those left out, how far the policy is behind uniform polling and
polling by importance where it is furthest behind, and how well P(fresh) is calibrated; `pooled` the same with all of
them under one budget; `poisson` the freshness lost against the plain Gamma index on made-up pages that change at
random; `speed` polls a second of CPU, on one core; `million` how long a history of a million events takes; `intervals`
how much wider intervals are for drawing whole folders; `ablation` the gap closed when each part of the default policy
is left out; `rivals` how often, and by how much, the policy is behind polling by importance and uniform polling, with
intervals over pages and over time, in several windows of each history. With `--earlier` replays end so many years
before histories do: of such parts nothing was known when parameters were chosen. With
`--leave-one-out` every constant is tried at other values, those that kernels contain only with `--compiled`, and for
each history those are chosen that do best on the others; what each constant is worth and the left-out scores are
printed (see left_out.py). What was replayed is kept in a file, so that an interrupted command goes on where it was;
with `--runs FOLDER` so do `gaps`, `pooled`, `intervals`, `ablation` and `rivals`.
Exits 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import Figure
from kept_replays import KeptReplays
from left_out import COMPILED, CONSTANTS, Apart, Choice, Trials, chosen, interval
from rivals import Duel, duels

from evercrawl.lab.backtest.replay import replay
from evercrawl.lab.backtest.report import means, of_site
from evercrawl.lab.backtest.runs import make, planned
from evercrawl.lab.backtest.setting import DAY_S, ReplaySetting, choices
from evercrawl.lab.histories import History, find, read
from evercrawl.lab.kept_runs import KeptRuns, fingerprint
from evercrawl.schedule.clocks import clocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evercrawl.lab.backtest.report import OfSite
    from evercrawl.lab.backtest.rows import ReplayRow
    from evercrawl.lab.backtest.runs import Made

PARTS = ("gaps", "pooled", "poisson", "speed", "million", "intervals", "ablation", "rivals")
YARDSTICKS = ("uniform", "importance_proportional", "notices")
YEAR_DAYS = 365.25
BUDGETS = (0.005, 0.02, 0.1, 0.5)
DATED = {0.005: 0.42, 0.02: 0.46, 0.1: 0.52, 0.5: 0.54}
UNDATED = {0.005: 0.37, 0.02: 0.40, 0.1: 0.48, 0.5: 0.49}
POOLED = {0.005: 0.46, 0.02: 0.55, 0.1: 0.65}
"""Goals: the mean gap closed, by budget; with validators, without, and under one budget."""
LEAST_PAGES = 100  # a site with fewer may lose more than a point


def main() -> int:
    """Print all that is asked for; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", help="a folder of them")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; may be repeated")
    parser.add_argument("--policy", default="price")
    parser.add_argument("--without", default="pyar-wiki", help="not in the mean, such as a,b (default: pyar-wiki)")
    parser.add_argument("--earlier", type=float, default=0.0, metavar="YEARS", help="end before the histories do")
    parser.add_argument("--windows", type=int, default=1, help="rivals: how many, a year apart (default: 1)")
    parser.add_argument("--budget", type=float, action="append", help="may be repeated")
    parser.add_argument("--sample", type=int, help="only so many pages of each site")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--leave-one-out", action="store_true", help="choose constants on all other sites")
    parser.add_argument("--compiled", action="store_true", help="leave-one-out: also constants that kernels contain")
    parser.add_argument("--kept", type=Path, default=Path("left-out.jsonl"), help="leave-one-out: what is over")
    parser.add_argument("--runs", type=Path, help="keep replays in this folder, and go on from what it has")
    o = parser.parse_args()
    o.all_paths = find(o.histories)
    o.paths = [path for path in o.all_paths if path.name not in o.without.split(",")]
    o.budget = sorted(o.budget or BUDGETS)
    if o.leave_one_out:
        shown(left_out(o))
        return 0
    parts: Mapping[str, Any] = {
        "gaps": gaps, "pooled": pooled_gaps, "poisson": poisson, "speed": speed, "million": million,
        "intervals": intervals, "ablation": ablation, "rivals": rivals,
    }  # fmt: skip
    figures = [figure for part in o.only or PARTS for figure in shown(parts[part](o))]
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


def shown(figures: Iterable[Figure]) -> list[Figure]:
    """Print figures as they come."""
    kept = list[Figure]()
    for figure in figures:
        print(figure, flush=True)
        kept.append(figure)
    return kept


def gaps(o: argparse.Namespace) -> Iterable[Figure]:
    """Yield the mean gap closed over the sites, what is lost on the worst, and the calibration error."""
    groups: list[tuple[Path, ...]] = [(path,) for path in (o.paths if o.earlier else o.all_paths)]
    dated, undated = both(o, groups)
    for name, every, goals in (("validators", dated, DATED), ("no validators", undated, UNDATED)):
        table(o, every, name)
        sites = [site for site, group in zip(every, groups, strict=True) if group[0] in o.paths]
        for mean in means(sites, seed=1):
            if mean.policy == o.policy:
                says = f"gap closed, {name}, {mean.budget:g} ({mean.gap_low:.2f} to {mean.gap_high:.2f})"
                yield Figure(says, mean.gap_closed, "", at_least=goals.get(mean.budget))
        for rival in YARDSTICKS[:2]:
            yield from rivalry(leads(every, rival), f"{rival}, {name}")
        yield from errors(o, sites, name)


def left_out(o: argparse.Namespace) -> Iterable[Figure]:
    """Yield what each constant is worth, and the gap closed on each site with constants that others chose."""
    kinds, apart = {"validators": True, "no validators": False}, Apart()
    with ExitStack() as stack:
        trials = dict[str, Trials]()
        for name, dated in kinds.items():
            settings = [ReplaySetting(budget, validators=dated, sample=o.sample) for budget in o.budget]
            path = o.kept.with_stem(f"{o.kept.stem}-{name.replace(' ', '-')}")
            kept = stack.enter_context(KeptRuns(path, fingerprint()))
            trials[name] = Trials(o.paths, o.policy, settings, kept, apart)
        usual = {name: each.scores(()) for name, each in trials.items()}
        tried: dict[str, dict[Choice, np.ndarray]] = {name: {} for name in trials}
        for constant in (*CONSTANTS, *(COMPILED if o.compiled else ())):
            for times in constant.times:
                choice = ((constant.name, times),)
                for name, each in trials.items():  # one after the other: kernels are compiled once for both
                    tried[name][choice] = scores = each.scores(choice)
                    low, high = interval(scores - usual[name])
                    says = f"{name}: {constant.name} x {times:.3g} ({low:+.3f} to {high:+.3f})"
                    yield Figure(says, float((scores - usual[name]).mean()), "more")
        for name, each in trials.items():
            yield from left_out_scores(name, each, usual[name], tried[name])
        apart.end()


def left_out_scores(
    name: str, trials: Trials, usual: np.ndarray, tried: Mapping[Choice, np.ndarray]
) -> Iterable[Figure]:
    """Yield the gap closed on each site with the constants that do best on the others, and the means."""
    scores = list[float]()
    for out, path in enumerate(trials.paths):
        choice = chosen(usual, tried, out)
        scores.append(trials.score(path, choice))
        says = ", ".join(f"{each} x {times:.3g}" for each, times in choice) or "as usual"
        yield Figure(f"{name}: {path.name}, {says}; usual {usual[out]:.3f}, left out", scores[-1], "")
    for says, values in (("usual constants", usual), ("left out", np.array(scores))):
        low, high = interval(values)
        yield Figure(f"{name}: gap closed, {says} ({low:.2f} to {high:.2f})", float(values.mean()), "")


def rivalry(rows: list[ReplayRow], name: str) -> Iterable[Figure]:
    """Yield how far the policy is behind a rival, whose rows are given, where it is furthest behind."""
    if rows:
        worst = min(rows, key=lead)
        yield Figure(f"worst against {name}: {worst.site}, {worst.budget:g}", lead(worst), "points")
        surely = 100 * max(row.difference_low for row in rows)
        yield Figure("points lost beyond noise, at most", max(surely, 0.01), "", at_most=1.0)


def pooled_gaps(o: argparse.Namespace) -> Iterable[Figure]:
    """Yield the gap closed under one budget."""
    for name, sites in zip(("validators", "no validators"), both(o, [tuple(o.paths)]), strict=True):
        for row in (row for row in sites[0].rows if row.policy == o.policy):
            goal = POOLED.get(row.budget) if name == "validators" else None
            yield Figure(f"gap closed, pooled, {name}, {row.budget:g}", row.gap_closed, "", at_least=goal)


def ablation(o: argparse.Namespace) -> Iterable[Figure]:
    """Yield the gap closed, mean of the sites and of all under one budget, without each part of the policy."""
    for part in ("", *clocks.PARTS, "age"):
        options = [f"{o.policy}.without={part}"] if part else []
        for name, groups in (("sites", [(path,) for path in o.paths]), ("pooled", [tuple(o.paths)])):
            made = replayed(
                o, groups, [o.policy, "uniform", "notices"], ReplaySetting(o.budget[0], sample=o.sample), options
            )
            rows = [row for each in made for row in said(each).rows if row.policy == o.policy]
            for budget in o.budget:
                mean = statistics.fmean(row.gap_closed for row in rows if row.budget == budget)
                yield Figure(f"gap closed, {name}, {budget:g}, {f'without {part}' if part else 'whole'}", mean, "")


def rivals(o: argparse.Namespace) -> Iterable[Figure]:
    """Yield in how many windows the policy is behind each rival, and in how many of them that is no chance."""
    print(f"\n{o.policy} against whom; site, window (years earlier), budget, freshness, points ahead,"
          " interval by folders or pages, by quarters of a year")  # fmt: skip
    found = list[Duel]()
    for path in o.all_paths:
        for duel in duels(path, o.policy, YARDSTICKS[:2], o.budget, o.windows, LEAST_PAGES, KeptReplays(o.runs)):
            print(duel, flush=True)
            found.append(duel)
    kinds = sorted({(duel.rival, duel.budget, not duel.validators) for duel in found})
    for rival, budget, undated in kinds:
        here = [duel for duel in found if (duel.rival, duel.budget, not duel.validators) == (rival, budget, undated)]
        behind = [duel for duel in here if duel.lead < 0]
        by_pages = [duel for duel in behind if duel.by_pages[1] < 0]
        surely = [duel for duel in by_pages if duel.by_quarters[1] < 0]
        yield Figure(
            f"{rival}, {budget:g}, {'no ' if undated else ''}validators: behind, of {len(here)}", len(behind), ""
        )
        yield Figure("... that is no chance of pages", len(by_pages), "")
        yield Figure("... nor of quarters", len(surely), "")
        yield Figure("... points ahead, the least", min(duel.lead for duel in here), "")
        yield Figure("... points ahead, mean", statistics.fmean(duel.lead for duel in here), "")


def both(o: argparse.Namespace, groups: list[tuple[Path, ...]]) -> tuple[list[OfSite], list[OfSite]]:
    """Return what is said of each group with validators and without; the yardsticks do not know of them."""
    dated = replayed(o, groups, [o.policy, *YARDSTICKS], ReplaySetting(o.budget[0], sample=o.sample))
    undated = replayed(o, groups, [o.policy], ReplaySetting(o.budget[0], validators=False, sample=o.sample))
    every = 1 + len(YARDSTICKS)
    in_place = [
        [undated[at][place // every] if place % every == 0 else each for place, each in enumerate(made)]
        for at, made in enumerate(dated)
    ]
    first, second = ([said(made) for made in sites] for sites in (dated, in_place))
    return first, second


def replayed(
    o: argparse.Namespace, groups: list[tuple[Path, ...]], policies: list[str], setting: ReplaySetting,
    options: Sequence[str] = (),
) -> list[list[Made]]:  # fmt: skip
    """Return what came of the replays of each group."""
    chosen = choices(policies, options)
    plan = [one for group in groups for one in planned([group], chosen, o.budget, in_time(o, group, setting))]
    coming = KeptReplays(o.runs).made([run for group in plan for run in group], lambda left: make(left, o.jobs, tick))
    made = [[next(coming) for _ in group] for group in plan]
    print("\r\x1b[2K" if sys.stderr.isatty() else "", end="", file=sys.stderr)
    return made


def in_time(o: argparse.Namespace, group: tuple[Path, ...], setting: ReplaySetting) -> ReplaySetting:
    """Return the setting of replays that end some years before the histories of a group."""
    if not o.earlier:
        return setting
    last = max(float(read(path).at[-1]) for path in group)
    return replace(setting, until=last - o.earlier * YEAR_DAYS * DAY_S)


def tick(what: str, done: float, total: int) -> None:
    """Tell a person how far it has come."""
    if sys.stderr.isatty():
        print(f"\r\x1b[2K{what}: {done:.1f} of {total}", end="", file=sys.stderr, flush=True)


def said(made: Sequence[Made]) -> OfSite:
    """Return what replays of one group say."""
    return of_site([each.replayed for each in made], made[0].cluster, seed=1)


def table(o: argparse.Namespace, sites: list[OfSite], name: str) -> None:
    """Print freshness and the gap closed of each site."""
    print(f"\n{o.policy}, {name}: freshness, points over uniform, gap closed")
    for site in sites:
        rows = [row for row in site.rows if row.policy == o.policy]
        lost = [row.difference for row in site.rows if row.policy == "uniform"]
        cells = (
            f"{100 * row.freshness:6.2f} {-100 * less:+6.2f} {row.gap_closed:+5.2f}"
            for row, less in zip(rows, lost, strict=True)
        )
        print(f"{rows[0].site:<16}{rows[0].pages:>7,}   {'   '.join(cells)}")


def leads(sites: list[OfSite], rival: str) -> list[ReplayRow]:
    """Return the rows of a rival on sites that are large enough."""
    return [row for site in sites for row in site.rows if row.policy == rival and row.pages >= LEAST_PAGES]


def lead(row: ReplayRow) -> float:
    """Return by how many points the policy is fresher than the rival of this row."""
    return -100 * row.difference


def errors(o: argparse.Namespace, sites: list[OfSite], name: str) -> Iterable[Figure]:
    """Yield the calibration error: the mean over the sites, at each budget, and the largest."""
    rows = [row for site in sites for row in site.rows if row.policy == o.policy]
    for budget in o.budget:
        here = [row for row in rows if row.budget == budget]
        mean = statistics.fmean(row.expected_calibration_error for row in here)
        yield Figure(f"calibration error, {name}, {budget:g}, mean", mean, "", at_most=0.05)
    worst = max(rows, key=error)
    yield Figure(f"... the largest: {worst.site}, {worst.budget:g}", error(worst), "")


def error(row: ReplayRow) -> float:
    """Return the calibration error of a row."""
    return row.expected_calibration_error


def poisson(o: argparse.Namespace) -> Iterable[Figure]:
    """Yield what is lost against the plain Gamma index where pages change at random, at rates of their own."""
    lost = dict[float, list[float]]()
    for seed in (1, 2, 3):
        history = made_up(2_000, seed)
        for budget in o.budget:
            fresh = [replay(history, name, ReplaySetting(budget)).freshness for name in ("price_gamma", o.policy)]
            lost.setdefault(budget, []).append(100 * (fresh[0] - fresh[1]))
    for budget, points in lost.items():
        mean = statistics.fmean(points)
        yield Figure(f"points lost on Poisson pages, {budget:g} ({mean:+.2f})", max(mean, 0.01), "", at_most=1.2)


def made_up(pages: int, seed: int, days: float = 1_200.0) -> History:
    """Return a history of pages in twenty folders that change at random, one in sixty days on the median."""
    draw = np.random.default_rng(seed)
    rate_per_day = np.exp(draw.normal(-np.log(60.0), 1.5, pages))
    counts = draw.poisson(rate_per_day * days)
    page = np.concatenate([np.arange(pages), np.repeat(np.arange(pages), counts)])
    at = np.concatenate([np.zeros(pages), draw.random(int(counts.sum())) * days * DAY_S]).astype(np.int64)
    op = np.concatenate([np.zeros(pages), np.ones(int(counts.sum()))]).astype(np.int8)
    order = np.argsort(at, kind="stable")
    n, key = len(at), draw.integers(0, 2**63, len(at)).astype(np.uint64)
    sizes, paths = np.full(n, 1_000), tuple(f"{i % 20}/{i}" for i in range(pages))
    site = np.zeros(pages, np.int64)
    return History("poisson", at[order], page[order], op[order], sizes, sizes, key, key, paths, site, ("poisson",))


def speed(o: argparse.Namespace) -> Iterable[Figure]:
    """Yield polls a second of CPU, on one core, and how long the longest history takes."""
    for name, goal in (("uniform", 1e6), (o.policy, 1e5)):
        polls = seconds = 0.0
        for path in o.paths:
            history, setting = read(path), ReplaySetting(0.1, warming=0.0, sample=o.sample)
            made = replay(history, name, setting)
            polls, seconds = polls + float(made.polls.sum()), seconds + made.elapsed_s
            print(f"  {name:<10}{path.name:<16}{len(history.at):>10,} events{made.polls.sum():>12,} polls"
                  f"{made.elapsed_s:8.1f} s{made.polls.sum() / made.elapsed_s:>12,.0f} polls/s")  # fmt: skip
        yield Figure(f"{name}, all histories, 0.1, thousand polls/s", polls / seconds / 1e3, "", at_least=goal / 1e3)


def million(o: argparse.Namespace) -> Iterable[Figure]:
    """Yield how many seconds of CPU a history of a million events takes."""
    history = made_up(20_000, 1, days=1_000.0)
    for name, budget in (("uniform", 0.1), (o.policy, 0.005), (o.policy, 0.02), (o.policy, 0.1)):
        made = replay(history, name, ReplaySetting(budget))
        says = f"{name}, {len(history.at):,} events, {made.polls.sum():,} polls, {budget:g}"
        yield Figure(says, made.elapsed_s, "s")


def intervals(o: argparse.Namespace) -> Iterable[Figure]:
    """Yield how much wider the interval of a difference is for drawing folders."""
    for made in replayed(
        o, [(path,) for path in o.paths], [o.policy, "uniform"], ReplaySetting(o.budget[0], sample=o.sample)
    ):
        runs = [each.replayed for each in made]
        alone = np.arange(len(made[0].cluster))
        widths = [
            [row.difference_high - row.difference_low for row in of_site(runs, cluster, seed=1).rows[1::2]]
            for cluster in (made[0].cluster, alone)
        ]
        clusters = len(np.unique(made[0].cluster))
        if clusters < len(alone):
            ratio = statistics.fmean(folders / pages for folders, pages in zip(*widths, strict=True))
            yield Figure(f"{runs[0].site}: {len(alone):,} pages, {clusters:,} folders, times as wide", ratio, "")


if __name__ == "__main__":
    sys.exit(main())
