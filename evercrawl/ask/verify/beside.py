"""Checks of the auxiliary files beside the journal, which a crawl can do without or recreate."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.ask.verify.findings import Findings
from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.fetch.names.cache import NAMES_FILE, is_whole
from evercrawl.model.policy import lessons_file
from evercrawl.model.worth import quality_weight
from evercrawl.model.worth.usage import USAGE_FILE, Tail
from evercrawl.small_file import LIST_BYTES, read_small, small
from evercrawl.store.birth import COPY, FILE, KEY
from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import Disk
from evercrawl.store.disk.tables import see_tables
from evercrawl.store.forgotten import load
from evercrawl.store.forgotten_rows import TABLES, rows_left
from evercrawl.store.repair.birth import read_birth
from evercrawl.store.repair.damage import Part

_AGAIN: Final = "remove it, and the next run recreates it"
_DATABASES: Final = ("robots.sqlite", "sitemaps.sqlite", "soft404.sqlite", "requisites.sqlite")
_KEPT: Final = "restore it from a backup, or remove it"
STEPS: Final = 100_000
PIECES: Final = 1_000
_PIECE_BYTES: Final = 1 << 13
"""The steps that a check of a database may take, by its size; a sound one takes a hundredth of these."""
_JSON: Final = ("policy.json", "memory.json", "quarantine.json", "cookies.json")


def inspect_beside(directory: Path, disk: Disk, found: Findings) -> None:
    """Check each of these files, in a directory in which no crawl runs."""
    if small(disk, FILE) != small(disk, COPY):
        found.mends.append(f"{COPY} differs from {FILE}; the next start rewrites it")
    birth = read_birth(disk)
    if birth is not None and small(disk, KEY) != birth.secret.encode():
        found.mends.append(f"{KEY} does not match {FILE}; the next start rewrites it")
    for name, sound in _checks(directory, disk).items():
        if (directory / name).is_file():
            found.count("files beside")
            if not sound():
                found.blame(f"{name} is damaged; {_AGAIN}", part=Part.BESIDE)
                found.damage.beside.append(name)
    forgotten = load(disk)
    for name in TABLES:
        if not (directory / name).is_file():
            continue
        found.count("files beside")
        if not _is_database(directory / name):
            found.blame(f"{name} is damaged; {_KEPT}", part=Part.BESIDE)
        elif birth is not None and (left := rows_left(directory, name, forgotten, birth.hasher)):
            found.blame(f"{name} still has rows of {left} forgotten URLs", part=Part.BESIDE)
    usage = Tail(directory / USAGE_FILE)
    for _ in usage.all():
        pass
    if usage.damaged:  # a crash leaves such lines too
        found.mends.append(f"{USAGE_FILE}: {usage.damaged} lines cannot be read and are skipped")


def _checks(directory: Path, disk: Disk) -> dict[str, Callable[[], bool]]:
    """Return a function for each file that checks whether it is intact."""
    lessons = stamped.names(disk, stamped.LESSONS)
    return {
        **{name: _of(_is_database, directory / name) for name in _DATABASES},
        **{name: _of(_is_json, directory / name) for name in _JSON},
        **{name: _of(_has_pieces, directory / name) for name in lessons},
        NAMES_FILE: _of(is_whole, directory / NAMES_FILE),
        quality_weight.POPULARITY_FILE: lambda: quality_weight.is_whole(disk),
    }


def _of(check: Callable[[Path], bool], path: Path) -> Callable[[], bool]:
    return lambda: check(path)


def _is_database(path: Path) -> bool:
    way = "ro" if path.with_name(f"{path.name}-wal").exists() else "ro&immutable=1"  # creates no file beside it
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode={way}", uri=True)) as cache,
    ):
        see_tables(cache)
        steps = iter(range(PIECES + path.stat().st_size // _PIECE_BYTES))
        cache.set_progress_handler(lambda: next(steps, None) is None, STEPS)  # whatever it computes, it ends
        return bool(cache.execute("PRAGMA integrity_check").fetchall() == [("ok",)])
    return False


def _is_json(path: Path) -> bool:
    try:
        json_of(read_small(path, LIST_BYTES))
    except (StoreError, msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


def _has_pieces(path: Path) -> bool:
    try:
        stamped.pieces(path.read_bytes(), lessons_file.MAGIC)
    except ValueError:
        return False
    return True
