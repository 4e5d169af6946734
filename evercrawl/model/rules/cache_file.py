"""Small tables in SQLite that outlive a run and can be lost: what they do not say is asked for again."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from evercrawl.store.disk.tables import see_tables


def opened(path: str, schema: str, probe: str) -> sqlite3.Connection:
    """Return a cache; a damaged one is made anew, and where there is no room for one memory serves.

    Parameters
    ----------
    path
        Of the file; ":memory:" keeps nothing.
    schema
        The statement that makes its table where there is none.
    probe
        A query that an undamaged cache of this version answers.
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
    """Return what a cache answers, without a trace in its directory; [] if it cannot."""
    way = "ro" if path.with_name(f"{path.name}-wal").exists() else "ro&immutable=1"  # nothing is made beside it
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode={way}", uri=True)) as cache:
            see_tables(cache)
            return cache.execute(query, values).fetchall()
    except sqlite3.Error:
        return []


def _opened(path: str, schema: str, probe: str) -> sqlite3.Connection:
    cache = sqlite3.connect(path, isolation_level=None, timeout=5.0)
    try:
        cache.execute("PRAGMA trusted_schema=OFF")  # the file may be a stranger's
        see_tables(cache)
        cache.execute("PRAGMA journal_mode=WAL")
        cache.execute("PRAGMA synchronous=NORMAL")
        cache.execute(schema)
        cache.execute(probe).fetchall()
    except sqlite3.Error:
        cache.close()
        raise
    return cache
