"""evercrawl lab evolution: statistics of changing pages in recorded histories or crawls."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit
from evercrawl.config import values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evercrawl.lab.histories.evolution.report import Evolution
    from evercrawl.lab.histories.history import History

_MORE = (
    "It also prints how large changes are, how links come and go, whether changes arrive at random, and whether pages "
    "of a site or folder change together. HISTORY is one that ships with "
    "evercrawl (peps, ota-contrib), FOLDER/NAME, a FOLDER of them, or a crawl directory; the default is the crawl "
    "in --dir. The crawl may be running. Examples: `evercrawl lab evolution peps ota-contrib`, `evercrawl lab "
    "evolution --dir example --by depth --sample random=1000`."
)
BY: Final = ("site", "tld", "depth", "type")
_SAMPLES: Final = "whole, sites=SITE,SITE or sites=@FILE, random=N, addresses=N, topic=WORDS,WORDS, or gateway=FILE"
_WHICH: Final = f"{_SAMPLES}; may be repeated, for the pages in all of them"
_TEXTS: Final = (
    "also read the archived versions, and report which text lasts and which flickers, whether content, "
    "structure or presentation changes, and how pages drift from their folder's topic"
)
_DATE: Final = "a date such as 2024-05-31, or seconds since 1970"


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(
        verbs, "evolution", "report how often pages change, how long they live, how they link", run, _MORE, lab=True
    )
    parser.add_argument("history", metavar="HISTORY", nargs="*", help="recorded histories, or crawl directories")
    parser.add_argument("--by", choices=BY, default="site", help="how to group pages (default: site)")
    parser.add_argument("--sample", metavar="WHICH", action="append", default=[], help=_WHICH)
    parser.add_argument("--seed", metavar="N", default="1", help="seed of the random sample (default: 1)")
    parser.add_argument("--since", metavar="DATE", help=f"start of the period: {_DATE}")
    parser.add_argument("--until", metavar="DATE", help="end of the period, in the same format")
    parser.add_argument("--texts", action="store_true", help=_TEXTS)
    parser.add_argument("--plot", metavar="FILE", help="also plot the statistics to FILE, as PNG")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Compute the statistics, and print them."""
    samples = [_sample(each) for each in args.sample]
    seed = cast("int", arguments.value(values.whole(0), args.seed, "--seed"))
    since, until = (_instant(getattr(args, name), f"--{name}") for name in ("since", "until"))
    if since is not None and until is not None and since >= until:
        raise ConfigError(f"--since must be before --until, and {args.since} is not before {args.until}")
    if args.plot:
        from evercrawl.lab.figures.plotting import require
        from evercrawl.store.disk.whole import placed

        require()
        placed(Path(args.plot))
    from evercrawl.lab.histories.evolution.report import evolution
    from evercrawl.lab.histories.evolution.texts import aspects_of_crawls, texts_of_crawls
    from evercrawl.lab.histories.find import read

    paths = _found(args.history or [str(where.directory(args))], texts=args.texts)
    with Meter(sys.stderr) as meter:
        histories = [read(path, meter) for path in paths]
    chosen, span = _chosen(paths, histories, samples, seed), (_or(since, -math.inf), _or(until, math.inf))
    texts = texts_of_crawls(paths, histories, chosen, *span) if args.texts else None
    aspects = aspects_of_crawls(paths, histories, chosen, *span) if args.texts else None
    found = evolution(histories, args.by, chosen=chosen, since=span[0], until=span[1], texts=texts, aspects=aspects)
    if args.plot:
        _plot(found, Path(args.plot))
    for line in _objects(found, args.by) if args.json else _lines(found, args.by, args.sample):
        print(fit(line, sys.stdout))
    return 0


def _found(words: list[str], *, texts: bool) -> list[Path]:
    """Return the requested histories; inner loops are compiled only if a crawl is read."""
    from evercrawl.lab.histories.find import find
    from evercrawl.store.birth import is_crawl

    found = find(*words)
    crawls = [path for path in found if is_crawl(path)]
    if texts and not crawls:
        raise ConfigError(f"--texts reads what a crawl archived, and there is none in {found[0]}; name one with --dir")
    if crawls:
        warm.before_reading("evercrawl.lab.histories.versions" if texts else "evercrawl.lab.histories.journal")
    return found


def _sample(written: str) -> tuple[str, Any]:
    """Return the kind of a requested sample, and its argument."""
    kind, _, what = written.partition("=")
    if kind == "whole" and not what:
        return kind, None
    if kind in ("random", "addresses") and what.isdigit() and int(what):
        return kind, int(what)
    if kind == "gateway" and what:
        return kind, _listed(f"@{what}", "a URL or path a line, or a server's log")
    if kind in ("sites", "topic") and (names := _listed(what)):
        return kind, names
    raise ConfigError(f"--sample must be {_SAMPLES}, not {written!r}")


def _listed(what: str, of: str = "a site a line") -> list[str]:
    """Return names separated by commas, or those in a file with one per line."""
    if not what.startswith("@"):
        return [name.strip() for name in what.split(",") if name.strip()]
    try:
        lines = Path(what[1:]).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ConfigError(f"cannot read {what[1:]}: {reason}; name a file with {of}") from error
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _instant(written: str | None, flag: str) -> float | None:
    """Return a time in seconds since the epoch."""
    if written is None:
        return None
    if re.fullmatch(r"-?\d+(\.\d+)?", written):
        return float(written)
    try:
        at = datetime.fromisoformat(written)
    except ValueError as error:
        raise ConfigError(f"{flag} must be {_DATE}, not {written!r}") from error
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _or(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given


def _chosen(
    paths: Sequence[Path], histories: Sequence[History], samples: Sequence[tuple[str, Any]], seed: int
) -> NDArray[np.bool_] | None:
    """Return which pages are in all samples; the random sample is drawn last, from the pages of the others."""
    from evercrawl.lab.histories.evolution.samples import about, asked_for, of_sites, on_addresses, random_pages

    def at_addresses(_: Sequence[History], count: int) -> NDArray[np.bool_]:
        from evercrawl.lab.histories.evolution.addresses import addresses_of_crawls

        return on_addresses(addresses_of_crawls(paths, histories), count, seed)

    made_by: dict[str, Callable[[Sequence[History], Any], NDArray[np.bool_]]] = {
        "sites": of_sites, "topic": about, "gateway": asked_for, "addresses": at_addresses,
    }  # fmt: skip
    chosen: NDArray[np.bool_] | None = None
    for kind, what in sorted(samples, key=lambda sample: sample[0] == "random"):
        if kind == "random":
            chosen = random_pages(histories, what, seed, chosen)
        elif kind in made_by:
            found = made_by[kind](histories, what)
            chosen = found if chosen is None else chosen & found
    return chosen


def _objects(found: Sequence[Evolution], by: str) -> list[str]:
    return [json_line("evolution", {"by": by} | each.figures()) for each in found]


def _lines(found: Sequence[Evolution], by: str, samples: Sequence[str]) -> list[str]:
    from evercrawl.cli.show.tables.evolution import tables

    sampled = [f"sample: {', '.join(samples)}", ""] if samples else []
    return [*sampled, *tables(found, by)]


def _plot(found: Sequence[Evolution], path: Path) -> None:
    from evercrawl.cli.show.figures.evolution import draw
    from evercrawl.store.disk.whole import atomic_file

    with atomic_file(path) as temporary:
        draw(found, temporary)
