"""evercrawl top: the most important pages and sites, and the rising ones."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit
from evercrawl.cli.show.words import ago, every, percent, table
from evercrawl.config import values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.ask.rank.rising import RisingPage
    from evercrawl.ask.rank.top import TopPage
    from evercrawl.ask.rank.top_sites import TopSite
    from evercrawl.model.view import View

_MORE = (
    "Importance is a page's share of the total; it is also printed relative to the mean page. The importance of a "
    "site comes from the links between sites. The crawl may be running; nothing is changed. Examples: `evercrawl top "
    "10 --sites`, `evercrawl top --by authority`, `evercrawl top --rising --within 7d`."
)
_PAGE_HEAD = ("", "importance", "x mean", "visits", "last visit", "changes", "fresh", "page")
_SITE_HEAD = ("", "importance", "x mean", "of pages", "by OPIC", "linking", "known", "read", "site")
_RISING_HEAD = ("", "rises", "x mean", "lately", "before", "came", "went", "found", "page")
_MEASURES = ("authority", "hub", "pagerank", "in-degree")
_TAX = 0.15
_BY = "list pages by another measure of the links that were read: Kleinberg's hubs and authorities, and others"
_LEFT = frozenset({"page", "site", "changes"})


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "top", "list the most important pages or sites", run, _MORE)
    parser.add_argument("most", metavar="N", nargs="?", default="20", help="number of rows (default: 20)")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--sites", action="store_true", help="list sites (registrable domains), by the links from other sites"
    )
    kind.add_argument("--by-site", action="store_true", help="list pages, weighted by the importance of their site")
    kind.add_argument("--by", metavar="|".join(_MEASURES), choices=_MEASURES, help=_BY)
    kind.add_argument("--rising", action="store_true", help="list pages that gain importance through recent links")
    parser.add_argument(
        "--within", metavar="TIME", help="with --rising: how recent, 12h or 7d (default: 1/8 of the crawl's age)"
    )
    parser.add_argument(
        "--tax", metavar="SHARE", help="with --by pagerank: share that pages give away evenly (default: 0.15)"
    )
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the pages or sites."""
    most = cast("int", arguments.value(values.whole(1), args.most, "N"))
    within_s = _within_s(args)
    _check(args)
    directory = where.directory(args)
    warm.before_reading("evercrawl.model.view")
    for line in _told(args, directory, most) or _read(args, directory, most, within_s):
        print(fit(line, sys.stdout))
    return 0


def _told(args: argparse.Namespace, directory: Path, most: int) -> list[str]:
    """Return the list from a server that has the crawl open; None if there is no server."""
    if args.sites or args.rising or args.by_site or args.by is not None:  # these require reading the journal
        return []
    from evercrawl.ask.rank.top import TopPage
    from evercrawl.ask.remote import remote

    pages = remote(directory, list[TopPage], "top", most=most)
    return page_lines(args, pages, time.time()) if pages else []


def _read(args: argparse.Namespace, directory: Path, most: int, within_s: float | None) -> list[str]:
    """Return the list from the crawl directory."""
    from evercrawl.model.stored.reader import opened
    from evercrawl.model.view import View, settings

    crawl, now = opened(directory), time.time()
    try:
        return _lines(args, View(crawl, settings(directory)[0], now), most, within_s, now)
    finally:
        crawl.close()


def _check(args: argparse.Namespace) -> None:
    if args.tax is not None and args.by != "pagerank":
        raise ConfigError("--tax only applies to --by pagerank; add that, or leave out --tax")


def _within_s(args: argparse.Namespace) -> float | None:
    if args.within is None:
        return None
    if not args.rising:
        raise ConfigError("--within only applies to --rising; add --rising, or leave out --within")
    within_s = cast("float", arguments.value(values.duration(), args.within, "--within"))
    if not within_s:
        raise ConfigError("--within must be longer than 0, such as 12h or 7d")
    return within_s


def _lines(args: argparse.Namespace, view: View, most: int, within_s: float | None, now: float) -> list[str]:
    """Return the lines to print."""
    if args.sites:
        from evercrawl.ask.rank.top_sites import top_sites

        sites = top_sites(view, most)
        return _objects(sites) if args.json else table(_SITE_HEAD, [_site(row) for row in sites], _LEFT)
    if args.rising:
        from evercrawl.ask.rank.rising import rising_pages

        rising = rising_pages(view, most, within_s)
        return _objects(rising) if args.json else _risen(rising, now)
    return page_lines(args, _pages(args, view, most), now)


def page_lines(args: argparse.Namespace, pages: list[TopPage], now: float) -> list[str]:
    """Return the lines about pages."""
    if args.json:
        return _objects(pages)
    head = (_PAGE_HEAD[0], args.by or _PAGE_HEAD[1], *_PAGE_HEAD[2:])
    return table(head, [_page(row, now) for row in pages], _LEFT)


def _pages(args: argparse.Namespace, view: View, most: int) -> list[TopPage]:
    from evercrawl.ask.rank.top import top_pages

    if args.by_site:
        from evercrawl.model.web.site_graph import SiteGraph

        return top_pages(view, most, SiteGraph(view).pages())
    if args.by is None:
        return top_pages(view, most)
    from evercrawl.ask.rank.link_measures import measured_by

    tax = _TAX if args.tax is None else cast("float", arguments.value(values.number(0.0001, 1.0), args.tax, "--tax"))
    with Meter(sys.stderr, line_every_s=1.0) as meter:
        return top_pages(view, most, measured_by(view, args.by, tax, meter))


def _objects(rows: Sequence[TopPage | TopSite | RisingPage]) -> list[str]:
    fields = [asdict(row) for row in rows]
    return [json_line("page" if "url" in row else "site", row) for row in fields]


def _risen(rows: list[RisingPage], now: float) -> list[str]:
    if not rows:
        return ["no page is rising: a rise needs new links from pages that were read before"]
    return table(_RISING_HEAD, [_rising(row, now) for row in rows], _LEFT)


def _page(row: TopPage, now: float) -> tuple[str, ...]:
    visited = "never" if row.visited_at is None else ago(max(now - row.visited_at, 0.0))
    changes = "?" if row.rate_per_s is None else every(row.rate_per_s)
    return (*_shares(row), str(row.visits), visited, changes, percent(row.fresh), row.url)


def _site(row: TopSite) -> tuple[str, ...]:
    counts = (f"{row.linking:,}", f"{row.known:,}", f"{row.read:,}")
    return (*_shares(row), percent(row.of_pages), percent(row.by_opic), *counts, row.site)


def _rising(row: RisingPage, now: float) -> tuple[str, ...]:
    means = (f"{row.times_mean:.1f}", f"{row.short:.1f}", f"{row.long:.1f}")
    found = ago(max(now - row.found_at, 0.0))
    return (str(row.rank), f"{row.score:.2g}", *means, f"{row.came:,}", f"{row.went:,}", found, row.url)


def _shares(row: TopPage | TopSite) -> tuple[str, str, str]:
    return str(row.rank), percent(row.importance), f"{row.times_mean:.1f}"
