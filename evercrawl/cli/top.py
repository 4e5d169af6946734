"""evercrawl top: what matters most."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from evercrawl.cli import arguments, warm
from evercrawl.cli.plain import fit
from evercrawl.cli.words import ago, every, percent, table
from evercrawl.config import values

if TYPE_CHECKING:
    import argparse

    from evercrawl.crawl.top import TopPage, TopSite

_MORE = (
    "Importance is a page's share of all there is, and is told in units of the mean page too. It can be asked at any "
    "time, also while the crawl runs, and changes nothing. Examples: `evercrawl top`, `evercrawl top 100 --json`, "
    "`evercrawl top 10 --sites`."
)
_PAGE_HEAD = ("", "importance", "x mean", "visits", "last visit", "changes", "fresh", "page")
_SITE_HEAD = ("", "importance", "x mean", "known", "read", "site")
_LEFT = frozenset({"page", "site", "changes"})


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "top", "list the pages, or sites, that matter most", run, _MORE)
    parser.add_argument("most", metavar="N", nargs="?", default="20", help="how many (default: 20)")
    parser.add_argument("--sites", action="store_true", help="sum the importance up by site (registrable domain)")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List them."""
    most = cast("int", arguments.value(values.whole(1), args.most, "N"))
    directory = arguments.directory(args)
    warm.before_reading("evercrawl.crawl.view")
    from evercrawl.crawl.reader import opened
    from evercrawl.crawl.top import top_pages, top_sites
    from evercrawl.crawl.view import View, settings

    crawl, now = opened(directory), time.time()
    try:
        view = View(crawl, settings(directory)[0], now)
        found = top_sites(view, most) if args.sites else top_pages(view, most)
    finally:
        crawl.close()
    if args.json:
        lines = [json.dumps(asdict(row)) for row in found]
    elif args.sites:
        lines = table(_SITE_HEAD, [_site(row) for row in cast("list[TopSite]", found)], _LEFT)
    else:
        lines = table(_PAGE_HEAD, [_page(row, now) for row in cast("list[TopPage]", found)], _LEFT)
    print(fit("\n".join(lines), sys.stdout))
    return 0


def _page(row: TopPage, now: float) -> tuple[str, ...]:
    visited = "never" if row.visited_at is None else ago(max(now - row.visited_at, 0.0))
    changes = "?" if row.rate_per_s is None else every(row.rate_per_s)
    return (*_shares(row), str(row.visits), visited, changes, percent(row.fresh), row.url)


def _site(row: TopSite) -> tuple[str, ...]:
    return (*_shares(row), f"{row.known:,}", f"{row.read:,}", row.site)


def _shares(row: TopPage | TopSite) -> tuple[str, str, str]:
    return str(row.rank), percent(row.importance), f"{row.times_mean:.1f}"
