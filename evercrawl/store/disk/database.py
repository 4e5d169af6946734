"""SQLite databases of a crawl directory, opened for writing, with a check of their version."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from evercrawl.errors import StoreError
from evercrawl.store.disk.tables import see_tables


def open_database(path: Path, schema: str, version: int, *, synchronous: str, instead: str) -> sqlite3.Connection:
    """Open or create a database for writing, with a write-ahead log; the caller controls transactions.

    Parameters
    ----------
    path
        The file.
    schema
        Statements that create its tables if they are missing.
    version
        Version of its format, stored as `user_version`.
    synchronous
        FULL: committed data is on the disk. NORMAL: committed data is on the disk once the log is synced.
    instead
        Advice for the user if the file cannot be read.

    Raises
    ------
    StoreError
        The file is damaged, or has a newer version.
    """
    try:
        file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        see_tables(file)
        (found,) = file.execute("PRAGMA user_version").fetchone()
        if found > version:
            raise StoreError(f"{path} was made by a newer evercrawl; upgrade evercrawl")
        file.execute("PRAGMA journal_mode = WAL")
        file.execute(f"PRAGMA synchronous = {synchronous}")
        file.executescript(schema)
        file.execute(f"PRAGMA user_version = {version}")
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path} cannot be read ({error}); {instead}") from error
    return file
