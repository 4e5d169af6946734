"""A derived or kept file that is an SQLite database: opened to be written, and never misread."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from evercrawl.errors import StoreError
from evercrawl.store.disk.tables import see_tables


def open_database(path: Path, schema: str, version: int, *, synchronous: str, instead: str) -> sqlite3.Connection:
    """Open a database for writing, with a write-ahead log, or make it; transactions are the caller's.

    Parameters
    ----------
    path
        Of the file.
    schema
        Statements that make its tables where they are missing.
    version
        Of its format; kept as its `user_version`.
    synchronous
        FULL: what is committed is on the disk. NORMAL: that is so after the log is synced.
    instead
        What a person does where it cannot be read.

    Raises
    ------
    StoreError
        The file is damaged, or of a newer version.
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
