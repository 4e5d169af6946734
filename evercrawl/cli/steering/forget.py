"""evercrawl forget: remove pages or hosts from everything the crawl keeps, and never request them again."""

from __future__ import annotations

import argparse
import sys

from evercrawl.cli import arguments, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit, many
from evercrawl.errors import ConfigError

_MORE = (
    "It goes from journal, archive, search index, derived files and caches; a hash under the crawl's secret "
    "stays, so that it is never requested again, whoever links to it. This cannot be undone. A WHAT is a complete URL, "
    "the name of a host, or an expression that is found in URLs that are known now (Python syntax). Stop the crawl "
    "first. What was begun is ended by the next start of the crawl or by --finish, also after a kill; `evercrawl "
    "verify` proves that nothing is left. Places that it cannot reach are named. Examples: `evercrawl forget "
    "https://example.org/private`, `evercrawl forget shop.example.org --yes`, `evercrawl forget '/users/[0-9]+/' "
    "--yes --json`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "forget", "forget pages or hosts for good", run, _MORE)
    parser.add_argument("what", metavar="WHAT", nargs="*", help="a URL, a host, or an expression found in URLs")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--finish", action="store_true", help="only end what was begun and stopped on the way")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Ask, forget, and say what was forgotten and what is beyond reach."""
    from evercrawl.crawl.forgetting import finish, forget, looked_up

    directory = where.directory(args)
    if bool(args.what) == args.finish:
        raise ConfigError("name what to forget: a URL, a host or an expression; or give --finish alone")
    ended = finish(directory)
    if args.finish:
        what = "what was begun is forgotten" if ended else "nothing was begun, so nothing is to be ended"
        print(json_line("forgotten", {"finished": ended}) if args.json else what)
        return 0
    meant = looked_up(directory, args.what)
    asked = (
        f"{many(len(meant.slots), 'pages')} and {many(len(meant.hosts), 'hosts')} in {directory} are forgotten for good"
    )
    if not args.yes and not _agreed(args, asked):
        return 1
    with Meter(sys.stderr) as meter:
        forgot = forget(directory, args.what, meter)
    if args.json:
        print(json_line("forgotten", {"finished": ended, **forgot._asdict()}))
        return 0
    print(
        f"forgot {many(forgot.pages, 'pages')} and {many(forgot.hosts, 'hosts')}; "
        f"{many(forgot.records, 'records')} of the archive ({forgot.archive_bytes:,} bytes) were overwritten"
    )
    for sentence in forgot.beyond:
        print(fit(f"not reached: {sentence}", sys.stdout))
    return 0


def _agreed(args: argparse.Namespace, asked: str) -> bool:
    if args.json or not sys.stdin.isatty():
        raise ConfigError(f"{asked}; nothing was changed: give --yes to have it done")
    print(fit(f"{asked}. This cannot be undone. Type yes to go on: ", sys.stdout), end="", flush=True)
    return sys.stdin.readline().strip().lower() == "yes"
