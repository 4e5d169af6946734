"""Small SQLite caches that outlive a run; if lost, their contents are requested again."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from evercrawl.store.disk.tables import see_tables


def opened(path: str, schema: str, probe: str) -> sqlite3.Connection:
    """Return a cache; a damaged one is replaced, and a full disk is replaced by memory.

    Parameters
    ----------
    path
        The file; ":memory:" stores nothing.
    schema
        The statement that creates its table if missing.
    probe
        A query that succeeds on an undamaged cache of this version.
    """
    with contextlib.suppress(sqlite3.Error):
        return _opened(path, schema, probe)
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(OSError):
            Path(name).unlink()
    with contextlib.suppress(sqlite3.Error):
        return _opened(path, schema, probe)
    return _opened(":memory:", schema, probe)


def read(path: Path, query: str, *values: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query to a cache, leaving its directory untouched; [] if the query fails."""
    way = "ro" if path.with_name(f"{path.name}-wal").exists() else "ro&immutable=1"  # no file is created beside it
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode={way}", uri=True)) as cache:
            see_tables(cache)
            return cache.execute(query, values).fetchall()
    except sqlite3.Error:
        return []


def _opened(path: str, schema: str, probe: str) -> sqlite3.Connection:
    cache = sqlite3.connect(path, isolation_level=None, timeout=5.0)
    try:
        cache.execute("PRAGMA trusted_schema=OFF")  # the file may be untrusted
        see_tables(cache)
        cache.execute("PRAGMA journal_mode=WAL")
        cache.execute("PRAGMA synchronous=NORMAL")
        cache.execute(schema)
        cache.execute(probe).fetchall()
    except sqlite3.Error:
        cache.close()
        raise
    return cache
