"""evercrawl changes: list the pages that changed, appeared or vanished, and the extent of changes."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit
from evercrawl.config import values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.ask.changes.page_change import ChangeList, PageChange
    from evercrawl.ask.changes.question import ChangeQuestion
    from evercrawl.ask.changes.texts import WordDiff
    from evercrawl.model.stored.derived.derived import Derived
    from evercrawl.store.partition import Partition

_MORE = (
    "Pages are ordered by importance times extent, which is the part of a page that is new. The first visit to a page "
    "is not a change; the page is listed as appeared if its site had been read before. Pages on which only times, "
    "counters, tokens or rotating advertisements changed are left out (--all lists them). The crawl may be running. "
    "Examples: `evercrawl changes --since yesterday`, `evercrawl changes --since 2h --site example.org --diff`, "
    "`evercrawl changes --follow --json --after 1200`."
)


_DAY_S: Final = 86_400.0


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "changes", "list what changed, appeared or vanished", run, _MORE)
    parser.add_argument(
        "--since", metavar="TIME", help="start of the period: 2h, 7d, today, yesterday or an ISO date (default: 24h)"
    )
    parser.add_argument("--until", metavar="TIME", default="now", help="end, in the same forms (default: now)")
    parser.add_argument("--site", metavar="SITE", default="", help="only this registrable domain or host")
    parser.add_argument("--pattern", metavar="REGEX", default="", help="only URLs in which this expression is found")
    parser.add_argument("--limit", metavar="N", default="50", help="number of pages; 0 = all (default: 50)")
    parser.add_argument("--follow", action="store_true", help="run until stopped; print each change as it is found")
    parser.add_argument("--after", metavar="SEQUENCE", help="only changes after the one with this sequence")
    parser.add_argument(
        "--atom", metavar="FILE", help="write the latest changes to an Atom feed; with --follow, keep it up to date"
    )
    parser.add_argument(
        "--webhook", metavar="URL", help="with --follow: deliver there; default: [webhook] of crawl.toml"
    )
    parser.add_argument("--webhook-secret", metavar="REF", help="secret that signs deliveries: env:NAME or file:PATH")
    parser.add_argument("--diff", action="store_true", help="print the words that changed")
    parser.add_argument("--all", action="store_true", help="include changes of times, counters and tokens alone")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the changes."""
    now = time.time()
    question, directory = _question(args, now), where.directory(args)
    if not args.follow and (args.webhook or args.webhook_secret):
        raise ConfigError("--webhook delivers what --follow finds; add --follow")
    warm.before_reading("evercrawl.model.importance_view")
    if args.follow or args.atom:
        from evercrawl.cli import following

        return following.run(args, directory, question)
    from evercrawl.ask.changes.page_change import ChangeList
    from evercrawl.ask.changes.texts import WordDiff
    from evercrawl.ask.remote import remote

    kind: Any = tuple[ChangeList, list[WordDiff | None]]
    told: tuple[ChangeList, list[WordDiff | None]] | None
    told = remote(directory, kind, "changes", question=asdict(question), diff=args.diff)
    if told is None:
        with Meter(sys.stderr, line_every_s=1.0) as meter:
            told = _asked(directory, question, meter, diff=args.diff)
    found, diffs = told
    if args.json:
        from evercrawl.cli.show.changes_lines import change_object

        for change, diff in zip(found.changes, diffs, strict=True):
            print(json_line("change", change_object(change, diff, with_diff=args.diff)))
        print(json_line("end", _end(found)))
        return 0
    _print(found, diffs, shown=args.diff)
    return 0


def _question(args: argparse.Namespace, now: float) -> ChangeQuestion:
    from evercrawl.ask.changes.question import ChangeQuestion, moment

    limit = cast("int", arguments.value(values.whole(), args.limit, "--limit"))
    after = cast("int", arguments.value(values.whole(), args.after or "0", "--after"))
    since = moment(args.since, now, "--since") if args.since else now - _DAY_S if not (after or args.follow) else 0.0
    question = ChangeQuestion(
        since=since,
        until=moment(args.until, now, "--until") if args.until != "now" else float("inf"),
        after=after,
        site=args.site,
        pattern=args.pattern,
        limit=limit or None,
        all=args.all,
    )
    assert question.expression is None or question.pattern  # raises if it is invalid, before the crawl is read
    return question


def _asked(
    directory: Path, question: ChangeQuestion, meter: Meter, *, diff: bool
) -> tuple[ChangeList, list[WordDiff | None]]:
    from evercrawl.ask.changes.listing import changes
    from evercrawl.model.importance_view import ImportanceView, written
    from evercrawl.model.stored.derived.derived import asked
    from evercrawl.model.stored.reader import opened

    crawl = opened(directory)
    try:

        def answer(derived: Derived) -> tuple[ChangeList, list[WordDiff | None]]:
            view = ImportanceView(crawl, written(directory), time.time())
            found = changes(view, derived.runs, question, derived.events, meter)
            return found, _diffs(crawl, derived, found) if diff else [None] * len(found.changes)

        return asked(crawl, answer, partial(meter, nouns="read for the first time"))
    finally:
        crawl.close()


def _diffs(crawl: Partition, derived: Derived, found: ChangeList) -> list[WordDiff | None]:
    from evercrawl.ask.changes.texts import VersionTexts, diff_of

    texts = VersionTexts(crawl, derived.runs)
    return [diff_of(texts, change) for change in found.changes]


def _end(found: ChangeList) -> dict[str, object]:
    """Return the end object, from which a later query can continue."""
    return {"sequence": found.upto, "pages": found.pages, "noise": found.noise, "unjudged": found.unjudged}


def _print(found: ChangeList, diffs: list[WordDiff | None], *, shown: bool) -> None:
    from evercrawl.cli.show.changes_lines import change_line, diff_text, summary

    for change, diff in zip(found.changes, diffs, strict=True):
        print(fit(change_line(change), sys.stdout))
        if shown and _has_diff(change):
            print(fit(diff_text(diff), sys.stdout))
    print(fit(summary(found), sys.stdout))


def _has_diff(change: PageChange) -> bool:
    return change.version is not None and change.before is not None
