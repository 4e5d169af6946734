"""What changed among a million visits, and what was seen of one page: how long the questions take, against their goals.

    python bench/changes.py [--visits 1_000_000] [--texts] [--dir DIR] [--commands]

A crawl is made up visit by visit, with the journal and the state of a real one: a fifth of the visits read a page for
the first time, each page has 25 links, a third of the later visits find a change. With --dir it is kept and used again.
With --texts each version is archived with its words, and half of the pages change by a clock alone, so that changes
have to be told from noise; without, no words are compared. With --commands only whole commands are measured.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
import numpy as np
from figures import Figure

from evercrawl.ask.changes.listing import changes
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.ask.changes.versions import history
from evercrawl.ask.why.inlinks import inlinks
from evercrawl.config import Config, save
from evercrawl.model.stored.derived.derived import FOLDER, Derived
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.parse.sites import site, site_rules
from evercrawl.store.archive.warc import ArchiveEntry
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.journal.events import CHANGED, HAS_LINKS, KEEP, UNCHANGED, Discovery, Found, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Exchange, Outcome, Request

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

HOSTS: Final = 2_000
LINKS: Final = 25
VISITS_OF_A_PAGE: Final = 5
BATCH: Final = 512
BEGAN_AT: Final = 1_700_000_000.0
DAYS: Final = 30
PAGES_ASKED: Final = 50
RUNS: Final = 5
_TEXT: Final = " ".join(f"a sentence of a page that says thing {number} of many things." for number in range(40))


class Made:
    """A crawl that is made up; every page is visited as often as any other."""

    def __init__(self, folder: Path, visits: int, *, texts: bool = False) -> None:
        self.partition = Partition(folder, os.urandom, now=BEGAN_AT, site=site, site_rules=site_rules())
        save(Config(), folder)
        self._draw, self._visits, self._texts = np.random.default_rng(1), visits, texts
        self._pages = visits // VISITS_OF_A_PAGE

    def make(self) -> None:
        """Make all visits."""
        state, draw = self.partition.state, self._draw
        self._find()
        simhashes = draw.integers(1, 2**63, self._pages)
        held = np.zeros((self._pages, 3), np.int64)  # visits, changes, digest
        waiting = list[tuple[Visit, ArchiveEntry | None]]()
        for number in range(self._visits):
            again = number >= self._pages
            slot = int(draw.integers(self._pages)) if again else number
            visits, changes, digest = held[slot].tolist()
            changed = again and draw.random() < 1 / 3
            gone = again and draw.random() < 0.01
            flags = (CHANGED | HAS_LINKS if changed else UNCHANGED | KEEP) if visits else HAS_LINKS
            if changed or not visits:
                digest = int(draw.integers(1, 2**63))
                simhashes[slot] ^= int(draw.integers(2**60)) & int(draw.integers(2**60)) & int(draw.integers(2**60))
            targets = encode_slots(np.unique(draw.integers(0, self._pages, LINKS)).astype(np.uint32))
            held[slot] = visits + 1, changes + changed, digest
            event = Visit(
                slot=slot, host=slot % HOSTS, at=BEGAN_AT + number * DAYS * 86_400.0 / self._visits,
                outcome=Outcome.GONE if gone else Outcome.OK, status=404 if gone else 200, flags=0 if gone else flags,
                visits=visits + 1, changes=changes + changed, size_bytes=digest % 90_000, wire_bytes=digest % 20_000,
                digest=digest, simhash=int(simhashes[slot]) if flags & HAS_LINKS else 0,
                words=digest & 0xFFFFFFFF if flags & HAS_LINKS else 0, misses=int(gone), mime="text/html",
                targets=targets if flags & HAS_LINKS and not gone else b"", out=LINKS, title=f"Page {slot}",
            )  # fmt: skip
            archived = self._texts and flags & HAS_LINKS and not gone
            waiting.append((event, self._version(slot, number) if archived else None))
            if len(waiting) == BATCH:
                self._remember(waiting)
                waiting = []
        self._remember(waiting)
        self._commit()
        assert state.visits == self._visits

    def _remember(self, visits: list[tuple[Visit, ArchiveEntry | None]]) -> None:
        """Archive versions, all with one sync, and journal their visits."""
        pointers = iter(self.partition.archive.append([entry for _, entry in visits if entry is not None]))
        for event, entry in visits:
            self.partition.remember(event if entry is None else msgspec.structs.replace(event, archive=next(pointers)))
        self.partition.flush()
        self.partition.journal.write(self.partition.journal.seal())

    def _version(self, slot: int, number: int) -> ArchiveEntry:
        """Return a version to archive: of every other page a clock changes alone, of the rest a sentence."""
        what = (
            f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}" if slot % 2 else f"word{number} and word{number + 1}"
        )
        body = f"<html><title>Page {slot}</title><p>{_TEXT} now {what} is said here {_TEXT}</html>".encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        url = _url(slot)
        sent = f"GET /folder-{slot % 7}/page-{slot}.html HTTP/1.1\r\n\r\n".encode()
        exchange = Exchange(
            Request(url),
            BEGAN_AT + number,
            0.1,
            200,
            sent,
            head,
            body,
            body,
            {"content-type": "text/html"},
            "192.0.2.1",
        )
        return ArchiveEntry(exchange)

    def _find(self) -> None:
        state, new = self.partition.state, list[str]()
        urls = list(map(_url, range(self._pages)))
        hosts = [state.host_number(f"www.site{number}.example", new) for number in range(HOSTS)]
        fresh = state.hasher.keys(urls)
        state.table.intern(fresh)
        found = Discovery(0, urls, [hosts[slot % HOSTS] for slot in range(self._pages)], 0, new)
        state.admit(found, BEGAN_AT, fresh)
        self.partition.remember(Found(BEGAN_AT, found))

    def _commit(self) -> None:
        async def commit() -> None:
            self.partition.flush()
            self.partition.journal.write(self.partition.journal.seal())

        async def offload(function: Callable[..., object], *arguments: object) -> object:
            return function(*arguments)

        asyncio.run(self.partition.snapshot(commit, offload))
        self.partition.close()


def _url(slot: int) -> str:
    return f"https://www.site{slot % HOSTS}.example/folder-{slot % 7}/page-{slot}.html"


def made(folder: Path, visits: int, *, texts: bool) -> None:
    """Make the crawl, in a process of its own."""
    if not (folder / "crawl.json").exists():
        flags = ["--make", str(folder), "--visits", str(visits), *(["--texts"] if texts else [])]
        subprocess.run([sys.executable, __file__, *flags], check=True)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what came of it, and CPU seconds."""
    began = time.process_time()
    return work(), time.process_time() - began


def commands(folder: Path) -> list[Figure]:
    """Return what whole commands take, with the start of Python and the opening of the crawl: the best of `RUNS`."""
    figures = list[Figure]()
    for name, words, goal_s in (
        ("--help", ["--help"], None),
        ("changes --since", ["changes", "--since", "2023-01-01", "--dir", str(folder), "--json"], 1.0),
        ("status", ["status", "--dir", str(folder)], None),
    ):
        taken = [_taken([sys.executable, "-m", "evercrawl", *words]) for _ in range(RUNS + 1)][1:]  # the first compiles
        cpu_s, wall_s = map(min, zip(*taken, strict=True))
        figures += [
            Figure(f"evercrawl {name}, the whole command, CPU", cpu_s, "s", at_most=goal_s),
            Figure(f"evercrawl {name}, the whole command, wall", wall_s, "s"),
        ]
    return figures


def _taken(command: list[str]) -> tuple[float, float]:
    """Return the seconds of CPU and of the wall clock that a command takes, as it is installed: with its bytecode."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall_s


def measured(folder: Path, visits: int) -> list[Figure]:
    """Return all figures, in CPU time; those of whole commands by the wall clock too."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
    crawl = opened(folder)
    derived, built_s = timed(Derived(crawl).current)
    derived, again_s = timed(Derived(crawl).current)
    size = sum(path.stat().st_size for path in (folder / FOLDER).iterdir())
    view = View(crawl, Config(), 0.0)
    month, month_s = timed(lambda: changes(view, derived.runs, ChangeQuestion(), derived.events))
    day, day_s = timed(lambda: changes(view, derived.runs, ChangeQuestion(since=view.now - 86_400), derived.events))
    again, month_again_s = timed(lambda: changes(view, derived.runs, ChangeQuestion(), derived.events))
    every, every_s = timed(
        lambda: changes(view, derived.runs, ChangeQuestion(site="site7.example", limit=None), derived.events)
    )
    slots = np.random.default_rng(2).integers(0, visits // VISITS_OF_A_PAGE, PAGES_ASKED).tolist()
    versions, linking = list[float](), list[float]()
    for slot in slots:
        runs = Derived(crawl).current().runs  # opened anew, so that no block is unpacked yet
        versions.append(timed(partial(history, runs, slot))[1])
        linking.append(timed(partial(inlinks, view.state, runs, slot))[1])
    crawl.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        Figure("derive all from the journal, CPU", built_s, "s"),
        Figure("derived files for each visit", size / visits, "B"),
        Figure("find them current, CPU", again_s * 1e3, "ms"),
        Figure(f"changes of {DAYS} days, {month.total:,} pages, CPU", month_s, "s", at_most=1.0),
        Figure(f"changes of a day, {day.total:,} pages, CPU", day_s, "s", at_most=1.0),
        Figure(
            f"the same again, {again.noise:,} noise, {again.unjudged} not compared yet, CPU",
            month_again_s,
            "s",
            at_most=1.0,
        ),
        Figure(f"all {every.total:,} of a site, {every.noise:,} noise, CPU", every_s, "s"),
        *commands(folder),
        Figure(f"versions of a page, longest of {PAGES_ASKED}, CPU", max(versions) * 1e3, "ms", at_most=50),
        Figure(f"in-links of a page, longest of {PAGES_ASKED}, CPU", max(linking) * 1e3, "ms", at_most=50),
        Figure("peak of memory", peak, "MiB"),
    ]


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--visits", type=int, default=1_000_000)
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--dir", type=Path)
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--make", type=Path)
    options = parser.parse_args()
    if options.make:
        Made(options.make, options.visits, texts=options.texts).make()
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.dir or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        made(folder, options.visits, texts=options.texts)
        figures = commands(folder) if options.commands else measured(folder, options.visits)
    print(*figures, sep="\n")
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
