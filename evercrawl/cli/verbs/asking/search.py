"""evercrawl search: find pages by words, best first."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from evercrawl.cli import arguments, renewal, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import many, plain
from evercrawl.cli.show.words import ago, percent
from evercrawl.config import values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.ask.search.hits import Hit
    from evercrawl.ask.search.search import Narrow, SearchAnswer
    from evercrawl.search.snippet import Mark

_MORE = (
    'A query has words, "a phrase", -without, site:example.org and lang:en, in any order. Write -- before a query '
    "that starts with a minus, or quote all of it. Pages are ranked by the words in their title, text, URL and "
    "incoming links, and by importance. The crawl may be running. Examples: `evercrawl search hash tables`, "
    "`evercrawl search 'sort \"in place\" -python' --fresh 90%`."
)
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_OPEN, _SHUT = "\ue000", "\ue001"  # placeholders for marks while lines are wrapped
_INDENT: Final = "    "
_WIDEST: Final = 110


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "search", "find pages by words", run, _MORE)
    parser.add_argument("words", metavar="WORDS", nargs="+", help="the query")
    parser.add_argument("--limit", metavar="N", default="10", help="number of results (default: 10)")
    parser.add_argument("--site", metavar="SITE", default="", help="only pages of this host or registrable domain")
    parser.add_argument("--lang", metavar="TAG", default="", help="only pages in this language: en, de, pt-BR")
    for name, what in (("fetched", "fetched"), ("changed", "known to have changed")):
        parser.add_argument(f"--{name}-within", metavar="TIME", help=f"only pages {what} within this time: 12h, 7d")
    parser.add_argument(
        "--fresh", metavar="P", help="only copies that are fresh with at least this probability: 0.9 or 90%%"
    )
    parser.add_argument(
        "--record", action="store_true", help="record the query and the results shown, as `evercrawl usage` does"
    )
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Search; exit code 1 if there are no hits."""
    limit = cast("int", arguments.value(values.whole(1), args.limit, "--limit"))
    if not "".join(args.words).strip():
        raise ConfigError("the query is empty; name words to search for")
    directory = where.directory(args)
    warm.before_reading("evercrawl.ask.search.search")
    from evercrawl.ask.remote import remote
    from evercrawl.ask.search.search import Search, SearchAnswer

    narrow, words = narrow_of(args), " ".join(args.words)
    answer = remote(directory, SearchAnswer, "search", words=words, narrow=asdict(narrow), limit=limit)
    if answer is None:
        search = Search(directory)
        try:
            answer = search.ask(words, narrow, limit=limit)
        finally:
            search.close()
    if args.json:
        for hit in answer.hits:
            print(json_line("hit", asdict(hit)))
    else:
        asked = f"{words} on {args.site}" if args.site else words
        filtered = any((args.lang, args.fetched_within, args.changed_within, args.fresh))
        print("\n".join(answer_lines(answer, f"{asked} with these filters" if filtered else asked)))
    if args.record:
        _record(directory, " ".join(args.words), answer)
    return 0 if answer.hits else 1


def _record(directory: Path, words: str, answer: SearchAnswer) -> None:
    from evercrawl.ask.usage.tell import MOST_CHARS
    from evercrawl.model.worth.usage import Question, UsageWriter

    shown = tuple(hit.url for hit in answer.hits)
    UsageWriter(directory).add([Question(time.time(), words[:MOST_CHARS], shown)], once=False)


def narrow_of(args: argparse.Namespace) -> Narrow:
    """Return the restrictions given by the flags."""
    from evercrawl.ask.search.search import Narrow

    fetched_s, changed_s = (
        None if raw is None else cast("float", arguments.value(values.duration(), raw, flag))
        for raw, flag in ((args.fetched_within, "--fetched-within"), (args.changed_within, "--changed-within"))
    )
    least = 0.0 if args.fresh is None else renewal.probability(args.fresh)
    return Narrow(args.site, args.lang, fetched_s, changed_s, least)


def answer_lines(answer: SearchAnswer, words: str) -> list[str]:
    """Return an answer as it is printed."""
    meant = [plain(f"did you mean: {answer.instead}")] if answer.instead else []
    if not answer.hits:
        return [plain(f"nothing was found for {words}"), *meant]
    now, terminal = time.time(), sys.stdout.isatty()
    width = min(shutil.get_terminal_size().columns, _WIDEST) if terminal else _WIDEST
    lines = [line for hit in answer.hits for line in (*shown(hit, now, width, terminal=terminal), "")]
    return [*meant, *lines, _rest(answer)]


def _rest(answer: SearchAnswer) -> str:
    more = "; --limit shows more" if answer.more else ""
    return f"{many(len(answer.hits), 'results')} in {1_000 * answer.took_s:.0f} ms{more}"


def shown(hit: Hit, now: float, width: int, *, terminal: bool) -> list[str]:
    """Return a hit as lines: title, URL, facts, and the matching part of its text."""
    title, text = _marked(hit.title or hit.url, hit.title_marks), _marked(hit.snippet, hit.snippet_marks)
    about = (
        f"importance {hit.times_mean:.1f} x mean",
        f"fetched {ago(max(now - hit.fetched_at, 0.0))}",
        f"changed {ago(max(now - hit.changed_at, 0.0))}",
        f"fresh {percent(hit.fresh)}",
        *([hit.language] if hit.language else []),
    )
    dim, undim = (_DIM, _PLAIN) if terminal else ("", "")
    lines = textwrap.wrap(text, max(width, 40), initial_indent=_INDENT, subsequent_indent=_INDENT)
    return [
        _styled(f"{hit.rank:>2}. {title}", terminal=terminal),
        f"{_INDENT}{plain(hit.url)}",
        f"{_INDENT}{dim}{plain(' · '.join(about))}{undim}",
        *_carried([_styled(line, terminal=terminal) for line in lines]),
    ]


def _marked(text: str, marks: tuple[Mark, ...]) -> str:
    """Return a text on one line, with the marks replaced by placeholders that occur nowhere else."""
    pieces: list[str] = []
    at = 0
    for start, end in marks:
        pieces += [_bare(text[at:start]), _OPEN, _bare(text[start:end]), _SHUT]
        at = end
    return "".join([*pieces, _bare(text[at:])])


def _bare(text: str) -> str:
    return plain(text).replace("\n", " ").replace("\t", " ").replace(_OPEN, "").replace(_SHUT, "")


def _styled(line: str, *, terminal: bool) -> str:
    bold, end = (_BOLD, _PLAIN) if terminal else ("", "")
    return line.replace(_OPEN, bold).replace(_SHUT, end)


def _carried(lines: list[str]) -> list[str]:
    """Return the lines so that none leaves the terminal bold or dim."""
    return [f"{line}{_PLAIN}" if line.count(_BOLD) > line.count(_PLAIN) else line for line in lines]
