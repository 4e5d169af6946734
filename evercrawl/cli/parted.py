"""Verbs on a partitioned crawl: asked of all partitions together, of the owner of a URL, or of each partition."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import asdict
from pathlib import Path
from typing import Final, cast

from evercrawl.cli import arguments, parted_files, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.lines import size
from evercrawl.cli.show.plain import fit
from evercrawl.config import values
from evercrawl.errors import ConfigError, EvercrawlError

_OF_A_URL: Final = frozenset({"get", "why", "check"})
_OF_EACH: Final = frozenset(
    {"changes", "pause", "resume", "boost", "add", "orders", "usage", "reindex", "forget", "suspects"}
)
_WHY_OF_ONE: Final = {
    "plan": "; plans of partitions, each with a budget and a price of its own, do not add up to the best one of the "
    "whole crawl. Of a site, --site SITE tells the plan",
}
_NOT_SEEN: Final = "each partition looks at its own sites: farms and mirrors of sites in several are not seen"


def is_parted(args: argparse.Namespace) -> bool:
    """Return whether a verb is about a partitioned crawl, and answered here."""
    if args.verb == "crawl" or not hasattr(args, "dir"):
        return False
    directory = _directory(args)
    if not (directory / where.PARTED).is_file():
        return False
    from evercrawl.store.disk.plain import see_plain

    see_plain(directory)  # each partition sees to its own alone
    return True


def _directory(args: argparse.Namespace) -> Path:
    """Return the crawl directory if it can be determined without an error; the verb itself raises errors."""
    if args.verb == "upgrade" and args.crawl is not None:
        return Path(args.crawl)
    if args.dir is not None or (Path() / where.PARTED).is_file():
        return Path(args.dir or ".")
    below = where.crawls_below(Path())
    return below[0] if len(below) == 1 else Path()


def answer(args: argparse.Namespace) -> int:
    """Run the verb; return the exit code.

    Raises
    ------
    ConfigError
        The verb can only be asked of one partition.
    """
    directory = _directory(args)
    together: dict[str, Callable[[argparse.Namespace, Path], int]] = {
        "status": _status, "top": _top, "search": _search, "verify": _verify, "export": _export, "serve": _serve,
        "move": _move, "drain": _drain, "rebalance": _rebalance, "upgrade": _upgrade, "backup": _backup,
    }  # fmt: skip
    if args.verb in together:
        return together[args.verb](args, directory)
    from evercrawl.cli import seeds
    from evercrawl.cluster.birth import part_directories
    from evercrawl.cluster.questions import owner

    if args.verb in _OF_A_URL:
        return _asked(args, directory, owner(directory, seeds.read_url(args.url)))
    if args.verb == "plan" and args.site:  # which is in one partition, as a whole
        return _site_plan(args, directory, owner(directory, seeds.read_url(args.site)))
    if args.verb in ("exclude", "include", "set"):
        from evercrawl.cli.verbs.steering import partitions

        order = partitions.setting if args.verb == "set" else partitions.rule
        return order(args, directory, part_directories(directory))
    if args.verb in _OF_EACH:
        return _each(args, directory)
    _refuse(args, directory)
    return 2


def _refuse(args: argparse.Namespace, directory: Path) -> None:
    from evercrawl.cluster.birth import part_directories

    parts = part_directories(directory)
    raise ConfigError(
        f"the crawl in {directory} has {len(parts)} partitions, and `evercrawl {args.verb}` is about one; name it: "
        f"--dir {parts[0]}{_WHY_OF_ONE.get(args.verb, '')}"
    )


def _site_plan(args: argparse.Namespace, directory: Path, number: int) -> int:
    from evercrawl.cluster.questions import is_afar

    if args.plot and is_afar(directory, number):
        raise ConfigError("--plot writes a file, and the site is on another machine; plot it there")
    return _asked(args, directory, number)


def _asked(args: argparse.Namespace, directory: Path, number: int) -> int:
    """Ask one partition, on any machine, once it is not being moved; return the exit code."""
    from evercrawl.cli.verbs.steering.moving import once_placed

    return once_placed(lambda: _asked_once(args, directory, number))


def _asked_once(args: argparse.Namespace, directory: Path, number: int) -> int:
    from evercrawl.cluster.birth import part_directories
    from evercrawl.cluster.questions import is_afar, verb_afar

    if is_afar(directory, number):
        words, lines = parted_files.sent(args, _words(args))
        answer = verb_afar(directory, number, words, lines)
        parted_files.came(args, answer)
        return answer.code
    alone = {"alone": lambda: _distrusted(directory, number)} if args.verb == "forget" else {}
    here = str(part_directories(directory)[number])
    code: int = args.run(argparse.Namespace(**{**vars(args), "dir": here, **alone}))
    return code


@contextlib.contextmanager
def _distrusted(directory: Path, number: int) -> Generator[None]:
    """Make sure that nobody opens the second copy of a partition, wherever it is, and that no run starts meanwhile."""
    from evercrawl.cluster.birth import note_copy
    from evercrawl.store.disk.lock import Lock

    with Lock.take(directory, "evercrawl forget", time.time()):
        note_copy(directory, number, None)
        yield


def _words(args: argparse.Namespace) -> list[str]:
    """Return the arguments without --dir, for a partition with another directory.

    >>> _words(argparse.Namespace(given=["why", "--dir", "d", "https://a.example/", "--dir=e"]))
    ['why', 'https://a.example/']
    """
    given = cast("list[str]", args.given)
    return [
        word
        for before, word in zip(["", *given], given, strict=False)
        if "--dir" not in (before, word) and not word.startswith("--dir=")
    ]


def _each(args: argparse.Namespace, directory: Path) -> int:
    """Ask one partition after the other; with --json, changes are sorted by time."""
    from evercrawl.cluster.birth import part_directories, read_birth
    from evercrawl.cluster.questions import PartAnswers

    parts = part_directories(directory)
    if args.verb == "changes" and (args.follow or args.atom):
        _refuse(args, directory)
    args = parted_files.taken_in(args)
    found, rows = PartAnswers[int](), list[str]()
    for number, part in enumerate(parts):
        said = io.StringIO()
        try:
            if args.verb == "changes" and args.json:
                with contextlib.redirect_stdout(said):
                    found.answers[number] = _asked(args, directory, number)
                rows += said.getvalue().splitlines()
                continue
            if not args.json:
                print(fit(f"{part.name}:", sys.stdout), flush=True)
            found.answers[number] = _asked(args, directory, number)
        except EvercrawlError as trouble:
            if not read_birth(directory).places:
                raise
            found.troubles[number] = str(trouble)
    for row in sorted(rows, key=_instant):
        print(row)
    _note(found.note)
    _note(_NOT_SEEN if args.verb == "suspects" else "")
    return max([*found.answers.values(), int(bool(found.troubles))])


def _instant(line: str) -> str:
    """Return the time of a change; the end lines of the partitions sort last."""
    return str(json.loads(line).get("at", "~"))


def _note(note: str) -> None:
    if note:
        print(fit(f"evercrawl: {note}", sys.stderr), file=sys.stderr)


def _top(args: argparse.Namespace, directory: Path) -> int:
    if args.sites or args.by_site or args.by is not None or args.rising:
        _refuse(args, directory)
    from evercrawl.cli.verbs.asking.top import page_lines
    from evercrawl.cluster.questions import top

    pages, note = top(directory, cast("int", arguments.value(values.whole(1), args.most, "N")))
    for line in page_lines(args, pages, time.time()):
        print(fit(line, sys.stdout))
    _note(note)
    return 0


def _search(args: argparse.Namespace, directory: Path) -> int:
    from evercrawl.cli.verbs.asking.search import answer_lines, narrow_of
    from evercrawl.cluster.questions import search

    limit, words = cast("int", arguments.value(values.whole(1), args.limit, "--limit")), " ".join(args.words)
    found, note = search(directory, words, narrow_of(args), limit)
    if args.json:
        for hit in found.hits:
            print(json_line("hit", asdict(hit)))
    else:
        print("\n".join(answer_lines(found, words)))
    _note(note)
    return 0 if found.hits else 1


def _status(args: argparse.Namespace, directory: Path) -> int:
    if args.calibration or args.memory or args.plot:
        _refuse(args, directory)
    from evercrawl.cli.show.words import table
    from evercrawl.cli.verbs.asking.status import requisite_words
    from evercrawl.cluster.questions import statuses, trouble_of_run
    from evercrawl.store.disk.lock import holder
    from evercrawl.store.requisites.book import RequisiteCounts

    found = statuses(directory)
    parts = [found.answers[number] for number in sorted(found.answers)]
    sums = {
        "known": sum(part.known for part in parts),
        "never_fetched": sum(part.never_fetched for part in parts),
        "fetched": sum(part.state.fetched for part in parts),
        "visits": sum(part.state.visits for part in parts),
        "changes": sum(part.state.changes for part in parts),
        "received_bytes": sum(part.state.received_bytes for part in parts),
        "archive_bytes": sum(part.state.archive_bytes for part in parts),
        "journal_bytes": sum(part.state.journal_bytes for part in parts),
        "letters": sum(part.sent for part in parts),
        "letters_under_way": sum(part.under_way for part in parts),
    }
    of_pages = [part.state.requisites for part in parts if part.state.requisites is not None]
    requisites = RequisiteCounts(*map(sum, zip(*of_pages, strict=True))) if of_pages else None
    running = holder(directory) is not None
    trouble = trouble_of_run(directory) if running else ""
    if args.json:
        rows = [
            {
                "partition": part.number, "known": part.known, "never_fetched": part.never_fetched,
                "fetched": part.state.fetched, "visits": part.state.visits, "sent": part.sent, "applied": part.applied,
                "under_way": part.under_way,
            }
            for part in parts
        ]  # fmt: skip
        whole = len(parts) + len(found.troubles)
        about = {"directory": str(directory), "running": running, "partitions": whole, "answered": len(parts)}
        counts = {"trouble": trouble or None, "requisites": requisites._asdict() if requisites is not None else None}
        print(json_line("status", {**about, **sums, **counts, "parts": rows}))
        return 0
    lines = [
        ("directory", str(directory)),
        ("crawl", f"{'running' if running else 'not running'}, in {len(parts) + len(found.troubles)} partitions"),
        ("known URLs", f"{sums['known']:,} ({sums['never_fetched']:,} never fetched)"),
        ("fetched pages", f"{sums['fetched']:,} with stored content"),
        ("visits", f"{sums['visits']:,} ({sums['changes']:,} found a change)"),
        ("received", size(sums["received_bytes"])),
        ("archive", size(sums["archive_bytes"])),
        ("journal", size(sums["journal_bytes"])),
        *([("requisites", requisite_words(requisites))] if requisites is not None else []),
        ("messages", f"{sums['letters']:,} between partitions ({sums['letters_under_way']:,} not acknowledged)"),
    ]
    print("\n".join(f"{name:<16}{text}" for name, text in lines))
    head = ("partition", "known", "never fetched", "held", "visits", "sent", "applied", "in flight")
    cells: list[tuple[str, ...]] = [
        (
            str(part.number), f"{part.known:,}", f"{part.never_fetched:,}", f"{part.state.fetched:,}",
            f"{part.state.visits:,}", f"{part.sent:,}", f"{part.applied:,}", f"{part.under_way:,}",
        )
        for part in parts
    ]  # fmt: skip
    print("\n".join(table(head, cells, frozenset())))
    _note(found.note)
    _note(trouble)
    return 0


def _serve(args: argparse.Namespace, directory: Path) -> int:
    if args.signals:
        raise ConfigError(f"--signals takes notices for one partition; serve it: --dir {directory / 'part-0'}")
    from evercrawl.cli.verbs.serving.serve import served
    from evercrawl.cluster.questions import AllParts

    return served(args, directory, AllParts(directory))


def _move(args: argparse.Namespace, directory: Path) -> int:
    from evercrawl.cli.verbs.keeping.move import run_parted

    return run_parted(args, directory)


def _drain(args: argparse.Namespace, directory: Path) -> int:
    from evercrawl.cli.verbs.keeping.move import drain_parted

    return drain_parted(args, directory)


def _backup(args: argparse.Namespace, directory: Path) -> int:
    from evercrawl.cli.verbs.keeping.backup import run_parted

    return run_parted(args, directory)


def _upgrade(args: argparse.Namespace, directory: Path) -> int:
    from evercrawl.cli.verbs.keeping.upgrade import run_parted

    return run_parted(args, directory)


def _rebalance(args: argparse.Namespace, directory: Path) -> int:
    from evercrawl.cli.verbs.keeping.move import rebalance_parted

    return rebalance_parted(args, directory)


def _verify(args: argparse.Namespace, directory: Path) -> int:
    if args.repair:
        _refuse(args, directory)
    from evercrawl.cli.show.meter import Meter
    from evercrawl.cli.verbs.keeping.verify import as_object, lines
    from evercrawl.cluster.questions import verified

    with Meter(sys.stderr) as meter:
        found, note = verified(directory, meter)
    for name, findings in found.items():
        if args.json:
            print(json_line("verify", {"of": name, **as_object(findings)}))
        else:
            print(fit("\n".join([f"{name}:", *lines(findings)]), sys.stdout))
    _note(note)
    return 0 if all(findings.fine for findings in found.values()) and not note else 1


def _export(args: argparse.Namespace, directory: Path) -> int:
    """Write a file for each partition: NAME-part-0.jsonl and so on; - writes all to standard output."""
    from evercrawl.cluster.birth import part_directories
    from evercrawl.cluster.questions import PartAnswers, is_afar

    found = PartAnswers[int]()
    for number, part in enumerate(part_directories(directory)):
        if is_afar(directory, number):
            found.troubles[number] = "it is on another machine; export it there"
            continue
        output = args.output
        if output != "-":
            stem, dot, ending = output.rpartition(".")
            output = f"{stem}-{part.name}.{ending}" if dot else f"{output}-{part.name}"
        found.answers[number] = _asked(argparse.Namespace(**{**vars(args), "output": output}), directory, number)
    _note(found.note)
    return max([*found.answers.values(), int(bool(found.troubles))])
