"""Removal of forgotten URLs from the databases beside the journal: records of hooks, and requests."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from evercrawl.arrays.hasher import Hasher
from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.small_file import read_small
from evercrawl.store.disk.tables import see_tables
from evercrawl.store.forgotten import Forgotten

TABLES: Final = {"records.sqlite": ("records",), "requests.sqlite": ("pages", "unsettled", "once")}
"""Tables with a column `url`, by file."""
_BIRTH: Final = ("crawl.json", "crawl-copy.json")
_WAIT_S: Final = 30.0  # for another program that writes to a database


def remove_rows(directory: Path, forgotten: Forgotten) -> None:
    """Remove the rows of forgotten URLs and overwrite their bytes; a repeated call finds nothing.

    Raises
    ------
    StoreError
        A database is damaged, or another program keeps writing to it.
    """
    hasher = _hasher(directory)
    for name, tables in TABLES.items():
        path = directory / name
        if hasher is None or not path.is_file():
            continue
        try:
            with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=_WAIT_S)) as file:
                see_tables(file)
                file.execute("PRAGMA secure_delete = ON")
                file.execute("BEGIN IMMEDIATE")
                for table, url in list(_left(file, tables, forgotten, hasher)):
                    file.execute(f"DELETE FROM {table} WHERE url = ?", (url,))
                file.execute("COMMIT")
                file.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log may contain the removed rows
        except sqlite3.Error as error:
            raise StoreError(f"{path} cannot be written ({error}); run evercrawl forget --finish to go on") from error


def rows_left(directory: Path, name: str, forgotten: Forgotten, hasher: Hasher) -> int:
    """Return the number of forgotten URLs that still have rows in a database; 0 if it cannot be read."""
    path = directory / name
    way = "ro" if path.with_name(f"{name}-wal").exists() else "ro&immutable=1"  # create no files beside it
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode={way}", uri=True)) as file,
    ):
        see_tables(file)
        return sum(1 for _ in _left(file, TABLES[name], forgotten, hasher))
    return 0


def _left(
    file: sqlite3.Connection, tables: tuple[str, ...], forgotten: Forgotten, hasher: Hasher
) -> Iterator[tuple[str, str]]:
    there = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in tables:
        for (url,) in file.execute(f"SELECT DISTINCT url FROM {table}") if table in there else ():
            if forgotten.has_url(hasher, url, _host(url)):
                yield table, url


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _hasher(directory: Path) -> Hasher | None:
    """Return a hasher for keys of URLs; None if no file has the secret."""
    for name in _BIRTH:
        with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, ValueError, KeyError):
            return Hasher(bytes.fromhex(str(json_of(read_small(directory / name), dict[str, object])["secret"])))
    return None
