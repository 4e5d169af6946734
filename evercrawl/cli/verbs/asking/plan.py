"""evercrawl plan: the expected freshness of a crawl's copies by its budget."""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evercrawl.cli import arguments, plan_budget, warm, where
from evercrawl.cli.show.chart import budget, curve_words, here_words, rate
from evercrawl.cli.show.early import too_early
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit, many
from evercrawl.cli.show.words import percent, span, table
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.ask.plan.curve import Point
    from evercrawl.ask.plan.outlook import Outlook
    from evercrawl.model.view import View

_MORE = (
    "From the importance and rates of change that the crawl has learned, it prints the share of copies, weighted by "
    "importance, that will be fresh in the long run, at the present pace and at others, and what a larger budget "
    "would add. The crawl may be running; nothing is changed. Examples: `evercrawl plan --plot plan.png`, `evercrawl "
    "plan --site example.org --budget 1000 --budget 5000 --json`, `evercrawl "
    "plan --target`."
)
_BUDGET: Final = "fetches per day, or bytes (5GB) if the crawl's budget is in bytes; may be repeated"
_HEAD: Final = (
    "", "budget", "fresh", "gain from 10 % more", "price", "worth < 1 visit a year", "pages < 1 visit a year", "visits",
)  # fmt: skip


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "plan", "predict how fresh copies will be, by budget", run, _MORE)
    parser.add_argument("--site", metavar="SITE", default="", help="plan for this registrable domain only")
    parser.add_argument("--budget", metavar="N", action="append", default=[], help=_BUDGET)
    parser.add_argument("--target", action="store_true", help="show the rate that meets the targets of crawl.toml")
    parser.add_argument("--plot", metavar="FILE", help="also plot the curve to FILE, as PNG")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the plan."""
    for each in args.budget:
        plan_budget.check(each)  # before anything is read
    if args.target and (args.site or args.budget or args.plot):
        raise ConfigError("--target asks for the rate that meets the targets; leave out --site, --budget and --plot")
    directory = where.directory(args)
    if args.plot:
        from evercrawl.lab.figures.plotting import require

        require()
    warm.before_reading("evercrawl.ask.plan.outlook")
    from evercrawl.ask.plan.outlook import outlook
    from evercrawl.model.stored.reader import opened
    from evercrawl.model.view import View, settings

    crawl = opened(directory)
    try:
        config, said = settings(directory)
        view = View(crawl, config, time.time())
        if args.target:
            return _aim(view, json_too=args.json)
        budgets = {plan_budget.per_s(each, in_bytes=view.in_bytes) for each in args.budget}
        found = outlook(view, args.site, budgets=sorted(budgets))
    finally:
        crawl.close()
    if args.plot:
        _plot(found, Path(args.plot))
    for line in [json_line("plan", _as_json(found))] if args.json else _lines(found, said):
        print(fit(line, sys.stdout))
    return 0


def _aim(view: View, *, json_too: bool) -> int:
    """Print the rate that meets the targets."""
    from evercrawl.ask.targets import rate as asked
    from evercrawl.cli.show.targets import target_lines

    found = asked(view)
    for line in [json_line("target", asdict(found))] if json_too else target_lines(found):
        print(fit(line, sys.stdout))
    return 0


def _as_json(found: Outlook) -> dict[str, Any]:
    """Return all numbers of an outlook, with tuples as objects, without the points drawn in between."""
    numbers = {name: value for name, value in asdict(found).items() if name != "line"}
    return numbers | {
        "polite_per_s": found.polite_per_s if math.isfinite(found.polite_per_s) else None,
        "again_per_s": found.again_per_s if math.isfinite(found.again_per_s) else None,
        "spent": found.spent._asdict(),
        "now": found.now._asdict() if found.now is not None else None,
        "points": [point._asdict() for point in found.points],
        "planned": found.planned._asdict() if found.planned is not None else None,
    }


def _lines(found: Outlook, said: str) -> list[str]:
    of = f" of {found.site}" if found.site else ""
    lines = [said] if said else []
    lines += [
        f"copies stored{of}: {found.copies:,}; fresh now, expected and weighted by importance: {percent(found.fresh)}",
        *_pace(found),
        *_limits(found),
        "",
        *_table(found),
    ]
    return lines + (["", *_drawn(found)] if len(found.line) > 1 else [])


def _drawn(found: Outlook) -> list[str]:
    """Return the curve drawn with characters, and its title."""
    from evercrawl.cli.show.chart import chart

    line, here = found.line, found.planned or found.now
    lines = chart(
        [point.budget for point in line],
        [point.freshness for point in line],
        (here.budget, here.freshness) if here is not None else None,
    )
    lines.append(f"      {budget(found, line[0])} to {budget(found, line[-1])}")
    lines += [f"      *: {curve_words(found)}" + (f"; O: {here_words(found)}" if here is not None else "")]
    return lines


def _pace(found: Outlook) -> list[str]:
    """Return the lines about the present state of the crawl."""
    spent, lately = found.spent, span(found.spent.within_s)
    if found.now is None:
        return [f"the pace of the crawl is not known: no page was visited twice within its last {lately}"]
    early = too_early(round(spent.refreshes_per_s * spent.within_s), "visits", "to pages read before")
    if early:
        return [f"{early}, to estimate the pace of the crawl and how often pages change here"]
    new = f", and {rate(spent.new_per_s)} to new pages" if spent.new_per_s > 0 else ""
    return [
        f"pace within the last {lately} of the crawl: {rate(spent.refreshes_per_s)} to known pages{new}; "
        f"{percent(spent.freshness)} fresh then",
        *_expected(found, found.now),
    ]


def _expected(found: Outlook, now: Point) -> list[str]:
    """Return the long-run freshness, and whose it is: the crawl's policy or the best possible one."""
    best = f"the best order would keep {percent(now.freshness)} fresh"
    pace = "at that pace" if not _held_back(found) else f"at the {rate(now.visits_per_s)} that limits allow"
    if found.planned is not None:
        kept = f"{pace} {percent(found.planned.freshness)} will be fresh in the long run, ordered by {found.policy}"
        return [f"{kept}; {best}", _alone(found, found.planned.left_alone)]
    if found.curve == "price":
        kept = f"{pace} {percent(now.freshness)} will be fresh in the long run"
        return [kept, _alone(found, now.left_alone)]
    return [f"{pace} {best} in the long run; the freshness under {found.policy} is not predicted"]


def _alone(found: Outlook, left_alone: float) -> str:
    if left_alone < 0.5:
        return "no page waits longer than a year for a visit"
    return f"{left_alone:,.0f} of {many(found.pages, 'pages')} wait longer than a year for a visit"


def _limits(found: Outlook) -> list[str]:
    """Return notes about what the numbers ignore, and whose numbers follow."""
    lines = (
        ["assumption: pages change independently of each other, each at its own rate"]
        if found.curve == "price"
        else [f"the table is for the best order, given the pages' rates of change, not for {found.policy}"]
    )
    if found.unread:
        are = "was never read, and is" if found.unread == 1 else "were never read, and are"
        lines.append(f"{many(found.unread, 'known pages')} {are} not included")
    if _held_back(found):
        lines.append(
            f"no page is visited again within {span(found.refresh_after_s)} (refresh_after_s in crawl.toml), which "
            f"leaves room for {rate(found.again_per_s)} at most: fewer than were made of late"
        )
    if any(point.visits_per_s > found.polite_per_s for point in found.points):
        lines.append(f"the rest of their hosts leaves room for {rate(found.polite_per_s)} at most")
    return lines


def _held_back(found: Outlook) -> bool:
    """Return whether recent visits exceed the limit in the settings; a run may have had other settings."""
    return found.spent.refreshes_per_s > 1.01 * found.again_per_s


def _table(found: Outlook) -> list[str]:
    rows: list[tuple[str, ...]] = [
        (
            _times(found, point), budget(found, point), percent(point.freshness),
            f"+{100.0 * point.marginal * 0.1 * point.budget:.2g} points", f"{point.price:.3g}", percent(point.seldom),
            f"{point.left_alone:,.0f}", rate(point.visits_per_s),
        )
        for point in found.points
    ]  # fmt: skip
    return table(_HEAD, rows)


def _times(found: Outlook, point: Point) -> str:
    if not found.spent.budget:
        return ""
    times = point.budget / found.spent.budget
    return "now" if abs(times - 1.0) < 0.01 else f"x {times:.3g}"


def _plot(found: Outlook, path: Path) -> None:
    from evercrawl.cli.show.figures.plan import draw
    from evercrawl.store.disk.whole import atomic_file

    with atomic_file(path) as temporary:
        draw(found, temporary)
