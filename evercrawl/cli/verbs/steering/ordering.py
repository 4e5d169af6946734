"""Shared code of the verbs that give orders: their flags, and the report of an order's result."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from evercrawl.cli import arguments, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit
from evercrawl.config import FILE_NAME, SETTINGS, load, values
from evercrawl.config.settings import read
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.store.orders import CrawlOrder

WAIT_S = 60.0
MORE = (
    "A running crawl carries out the order within about a second, even if it is paused; otherwise the next start "
    "does. Orders survive a kill of the crawl and are carried out exactly once; `evercrawl orders` lists them with "
    "their results."
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--wait`, `--dir` and `--json`."""
    parser.add_argument(
        "--wait",
        metavar="TIME",
        nargs="?",
        const=str(WAIT_S),
        help="wait for the result, at most this long (default: 60 s); a refused order exits with code 1",
    )
    arguments.add_directory(parser)
    arguments.add_json(parser)


def add_rule(verbs: arguments.Verbs, name: str, summary: str, more: str) -> None:
    """Declare a verb whose orders are rules about URLs."""
    parser = arguments.add_verb(verbs, name, summary, lambda args: rule(args, name), more)
    add_pattern(parser)
    parser.add_argument("--lift", action="store_true", help="remove the rule instead")
    add_flags(parser)


def add_word(verbs: arguments.Verbs, name: str, summary: str, more: str) -> None:
    """Declare a verb whose orders have no arguments."""

    def run(args: argparse.Namespace) -> int:
        from evercrawl.store.orders import CrawlOrder

        return give(args, CrawlOrder(name))

    add_flags(arguments.add_verb(verbs, name, summary, run, more))


def give(args: argparse.Namespace, order: CrawlOrder) -> int:
    """Give an order, and report its result; return the exit code."""
    from evercrawl.ask.orders.give import awaited
    from evercrawl.ask.orders.give import give as give_it

    directory = where.directory(args)
    wait_s = None if args.wait is None else cast("float", arguments.value(values.duration(), args.wait, "--wait"))
    given = give_it(directory, order)
    if wait_s is None or given.pid is None:
        who = f"process {given.pid}" if given.pid else "the running crawl"
        when = (
            f"{who} carries it out within about a second" if given.pid is not None else "the next start carries it out"
        )
        _tell(args, {"id": given.id, "do": order.do, "state": "waits", "result": when}, f"order {given.id}: {when}")
        return 0
    answer = awaited(directory, given, wait_s, lambda said: None if args.json else _note(said))
    waits = "no result yet; `evercrawl orders` will show it"
    _tell(args, {**asdict(answer), "do": order.do}, f"{answer.state}: {answer.result or waits}")
    return 0 if answer.state == "done" else 1


def _tell(args: argparse.Namespace, found: dict[str, object], sentence: str) -> None:
    print(json_line("order", found) if args.json else fit(sentence, sys.stdout), flush=True)


def _note(sentence: str) -> None:
    print(fit(f"evercrawl: {sentence}", sys.stderr), file=sys.stderr)


def add_pattern(parser: argparse.ArgumentParser) -> None:
    """Add the expression of a rule or a boost."""
    parser.add_argument("pattern", metavar="PATTERN", nargs="?", help="expression found in URLs, or the start of a URL")
    parser.add_argument("--host", metavar="NAME", help="all URLs of this host, instead of PATTERN")


def pattern(args: argparse.Namespace) -> str:
    r"""Return the expression that was given.

    Raises
    ------
    ConfigError
        None or two were given, or it is not a regular expression.

    Examples
    --------
    >>> pattern(argparse.Namespace(pattern="https://a.example/x/", host=None))
    '^https://a\\.example/x/'
    >>> pattern(argparse.Namespace(pattern=None, host="A.example"))
    '^https?://a\\.example(?::[0-9]+)?/'
    """
    from evercrawl.parse.urls import hostname, normalise

    if args.host is not None:
        name = normalise(f"http://{args.host}/")
        if name is None or (args.pattern is not None and not _is_number(args.pattern)):
            raise ConfigError("--host names one host, and replaces PATTERN")
        if args.pattern is not None:
            args.factor = args.pattern
        return f"^https?://{re.escape(hostname(name))}(?::[0-9]+)?/"
    if not args.pattern:
        raise ConfigError("name a PATTERN, such as '/private/', or a --host")
    if args.pattern.startswith(("http://", "https://")) and (url := normalise(args.pattern)) is not None:
        return f"^{re.escape(url)}"
    read(SETTINGS["exclude"], [args.pattern], "PATTERN")
    return str(args.pattern)


def rule(args: argparse.Namespace, name: str) -> int:
    """Give the order for a scope rule."""
    from evercrawl.store.orders import PIECE_BYTES, CrawlOrder, OrderFile, lines_from

    wanted, directory = pattern(args), where.directory(args)
    if args.lift:
        file = directory / FILE_NAME
        there: tuple[str, ...] = getattr(load(file), name) if file.is_file() else ()
        source = OrderFile(directory)
        last = lines_from(source, max(source.size() - PIECE_BYTES, 0))  # of which some may not be obeyed yet
        if wanted not in there and not any(each.order and each.order.pattern == wanted for each in last):
            known = ", ".join(map(repr, there)) or "none"
            raise ConfigError(f"{name} in {file} has no {wanted!r} to lift; it has {known}")
    return give(args, CrawlOrder(name, pattern=wanted, lift=args.lift))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
