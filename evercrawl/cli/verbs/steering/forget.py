"""evercrawl forget: remove pages or hosts from everything the crawl keeps, and never request them again."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import TYPE_CHECKING, cast

from evercrawl.cli import arguments, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit, many
from evercrawl.config import values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

_MORE = (
    "They are removed from the journal, the archive, the search index, derived files and caches. A hash under the "
    "crawl's secret stays, so that they are never requested again. This cannot be undone. WHAT is a complete URL, "
    "the name of a host, or an expression that is searched in the URLs known now (Python syntax). A running crawl "
    "takes it as an order: it stops requesting, removes the pages, and continues. The next start of the crawl, or "
    "--finish, completes a removal that was interrupted; `evercrawl verify` checks that nothing is left. Copies "
    "that cannot be reached are listed. Examples: `evercrawl forget https://example.org/private`, `evercrawl "
    "forget shop.example.org --yes`, `evercrawl forget '/users/[0-9]+/' --yes --json`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "forget", "remove pages or hosts permanently", run, _MORE)
    parser.add_argument("what", metavar="WHAT", nargs="*", help="a URL, a host, or an expression found in URLs")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.add_argument(
        "--wait",
        metavar="TIME",
        default="1h",
        help="how long to wait for a running crawl to finish the removal (default: 1h)",
    )
    parser.add_argument("--finish", action="store_true", help="only complete a removal that was interrupted")
    parser.set_defaults(alone=contextlib.nullcontext)  # in a partition: the coordinator of the request prints more
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Ask for confirmation, forget, and report what was forgotten and what could not be reached."""
    from evercrawl.crawl.removing.forgetting import finish, forget

    directory = where.directory(args)
    if bool(args.what) == args.finish:
        raise ConfigError("name what to forget: a URL, a host or an expression; or give --finish alone")
    from evercrawl.ask.orders.give import listens
    from evercrawl.store.disk.leaving import see_staying

    see_staying(directory)
    if listens(directory) and not args.finish:
        return _ordered(args, directory)
    ended = finish(directory)
    if args.finish:
        what = "the interrupted removal is complete" if ended else "there is no interrupted removal to complete"
        print(json_line("forgotten", {"finished": ended}) if args.json else what)
        return 0
    if not _agreed(args, directory):
        return 1
    with args.alone(), Meter(sys.stderr) as meter:
        forgot = forget(directory, args.what, meter)
    if args.json:
        print(json_line("forgotten", {"finished": ended, **forgot._asdict()}))
        return 0
    were = "was" if forgot.records == 1 else "were"
    print(
        f"forgot {many(forgot.pages, 'pages')} and {many(forgot.hosts, 'hosts')}; "
        f"{many(forgot.records, 'records')} of the archive ({forgot.archive_bytes:,} bytes) {were} overwritten"
    )
    for sentence in forgot.beyond:
        print(fit(f"not reached: {sentence}", sys.stdout))
    return 0


def _ordered(args: argparse.Namespace, directory: Path) -> int:
    """Let a running crawl forget, and report the result."""
    from evercrawl.ask.orders.give import awaited, give
    from evercrawl.store.orders import FORGET, CrawlOrder

    wait_s = cast("float", arguments.value(values.duration(), args.wait, "--wait"))
    if not _agreed(args, directory):
        return 1
    given = give(directory, CrawlOrder(FORGET, urls=tuple(args.what)))
    answer = awaited(directory, given, wait_s, lambda said: None)
    result = answer.result or "the crawl has it as an order, and carries it out now or when it starts next"
    if args.json:
        print(json_line("order", {"id": given.id, "do": FORGET, "state": answer.state, "result": result}))
    else:
        done, _, beyond = result.partition("; not reached: ")
        print(fit(done, sys.stdout))
        for sentence in beyond.split("; ") if beyond else ():
            print(fit(f"not reached: {sentence}", sys.stdout))
    return 0 if answer.state == "done" else 1


def _agreed(args: argparse.Namespace, directory: Path) -> bool:
    from evercrawl.crawl.removing.forgetting import looked_up

    meant = looked_up(directory, args.what)
    if args.yes:
        return True
    what = f"{many(len(meant.slots), 'pages')} and {many(len(meant.hosts), 'hosts')}"
    asked = f"{what} in {directory} will be removed permanently"
    if args.json or not sys.stdin.isatty():
        raise ConfigError(f"{asked}; nothing was changed. Give --yes to confirm")
    print(fit(f"{asked}. This cannot be undone. Type yes to continue: ", sys.stdout), end="", flush=True)
    return sys.stdin.readline().strip().lower() == "yes"
