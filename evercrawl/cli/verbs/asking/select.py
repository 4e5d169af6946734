"""evercrawl select: choose the sites that an archive should keep."""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit, many
from evercrawl.cli.show.words import percent, table
from evercrawl.config import values

if TYPE_CHECKING:
    from evercrawl.ask.rank.agreement import Agreement
    from evercrawl.ask.rank.ratings import Ratings
    from evercrawl.ask.rank.select import SelectableSites, Selection

_MORE = (
    "A site is kept as a whole or not at all. Sites with the most importance per unit of budget come first; "
    "importance comes from the links of other sites. With --ratings, it also prints how well importance agrees with "
    "the ratings of experts, and they with each other. The crawl may be running; nothing is changed. Examples: "
    "`evercrawl select --budget 100`, `evercrawl select --budget 50GB --unit bytes --json`."
)
_UNITS: Final = ("sites", "pages", "bytes")
_HEAD: Final = ("", "importance", "x mean", "linking", "pages", "size", "site")
_LEFT: Final = frozenset({"site", "rater"})
_MEASURES: Final = {"importance": "importance", "linking": "linking sites", "of_pages": "pages' importance"}
_BY: Final = {"importance": "importance", "linking": "linking", "pages": "of_pages"}


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "select", "choose the sites that an archive should keep", run, _MORE)
    parser.add_argument("--budget", metavar="N", required=True, help="how much to keep: 100, or 50GB with --unit bytes")
    parser.add_argument("--unit", choices=_UNITS, default="sites", help="unit of the budget (default: sites)")
    parser.add_argument(
        "--by", choices=_BY, default="importance", help="measure that ranks sites (default: importance)"
    )
    parser.add_argument(
        "--ratings", metavar="FILE", help="CSV file with the columns site, rating (1 to 4) and, optionally, rater"
    )
    parser.add_argument("--best", choices=("1", "4"), default="4", help="the best rating in FILE (default: 4)")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Choose the sites, and compare them with the ratings."""
    kind = values.size(1) if args.unit == "bytes" else values.whole(1)
    budget = cast("int", arguments.value(kind, args.budget, "--budget"))
    directory = where.directory(args)
    warm.before_reading("evercrawl.model.view")
    from evercrawl.ask.rank.ratings import read_ratings
    from evercrawl.ask.rank.select import select, sites_of
    from evercrawl.model.stored.reader import opened
    from evercrawl.model.view import View, settings

    ratings = read_ratings(Path(args.ratings), int(args.best)) if args.ratings else None
    crawl = opened(directory)
    try:
        sites = sites_of(View(crawl, settings(directory)[0], time.time()))
    finally:
        crawl.close()
    found = select(sites, budget, args.unit, _BY[args.by])
    agreed = _agreement(ratings, sites) if ratings else None
    for line in _objects(found, agreed) if args.json else [*_told(found), *(_compared(agreed) if agreed else [])]:
        print(fit(line, sys.stdout))
    return 0


def _agreement(ratings: Ratings, sites: SelectableSites) -> Agreement:
    from evercrawl.ask.rank.agreement import agreement

    return agreement(ratings, sites.names, {name: getattr(sites, name) for name in _MEASURES})


def _objects(found: Selection, agreed: Agreement | None) -> list[str]:
    about = asdict(found)
    rows: list[dict[str, Any]] = about.pop("sites")
    lines = [("site", row) for row in rows]
    lines.append(("selection", {"sites": len(rows)} | about))
    if agreed:
        lines.append(("agreement", asdict(agreed)))
    return [json_line(event, _without_nan(line)) for event, line in lines]


def _without_nan(value: Any) -> Any:
    """Return a value for JSON; nan, an undefined agreement, becomes None."""
    if isinstance(value, dict):
        return {name: _without_nan(of) for name, of in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_without_nan(of) for of in cast("list[object]", value)]
    return None if isinstance(value, float) and math.isnan(value) else value


def _told(found: Selection) -> list[str]:
    rows: list[tuple[str, ...]] = [
        (
            str(site.rank), percent(site.importance), f"{site.times_mean:.1f}", f"{site.linking:,}", f"{site.pages:,}",
            _size(site.size_bytes), site.site,
        )
        for site in found.sites
    ]  # fmt: skip
    spent, budget = (_amount(count, found.unit) for count in (found.spent, found.budget))
    return [
        *(table(_HEAD, rows, _LEFT) if rows else []),
        f"chosen: {len(rows):,} of {many(found.of, 'sites')}, with {percent(found.importance)} of the importance; "
        f"budget used: {spent} of {budget}",
    ]


def _compared(agreed: Agreement) -> list[str]:
    """Return the lines about the raters."""
    head = ("rater", "rated", *_MEASURES.values(), "mean rating", "other raters", "chance")
    rows = [
        (
            of.rater or "the rater", f"{of.rated:,}", *(_share(of.measures[name]) for name in _MEASURES),
            _share(of.mean_rating), _share(of.others), _share(of.chance),
        )
        for of in agreed.raters
    ]  # fmt: skip
    means = (_share(agreed.measures[name]) for name in _MEASURES)
    rows.append(("mean of raters", "", *means, "", _share(_mean(agreed.pairs)), ""))
    rows.append(("mean rating", "", *(_share(agreed.mean_rating[name]) for name in _MEASURES), "", "", ""))
    unknown = agreed.unknown
    return [
        "",
        "share of rated sites to which both give the same rank, 1 to 4 (each rank as often as the rater uses it):",
        *table(head, rows, _LEFT),
        *([f"pairs of raters agree about {_range(agreed.pairs)}"] if agreed.pairs else []),
        *([f"the crawl does not know {many(len(unknown), 'rated sites')}: {_some(unknown)}"] if unknown else []),
    ]


def _mean(shares: list[float]) -> float | None:
    return sum(shares) / len(shares) if shares else None


def _range(shares: list[float]) -> str:
    low, high = _share(shares[0]), _share(shares[-1])
    return f"{low} of the sites" if low == high else f"{low.removesuffix(' %')} to {high} of the sites"


def _share(share: float | None) -> str:
    return percent(None if share is None or math.isnan(share) else share)


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def _amount(count: int, unit: str) -> str:
    return _size(count) if unit == "bytes" else many(count, unit)


def _size(size_bytes: float) -> str:
    from evercrawl.cli.show.lines import size

    return size(size_bytes)
