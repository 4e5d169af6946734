"""Records that hooks make of pages, kept per version of a page in an SQLite file of the crawl directory."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evercrawl.ask.export import files
from evercrawl.errors import ConfigError, StoreError
from evercrawl.extras import require_parquet
from evercrawl.store.disk.database import open_database
from evercrawl.store.disk.tables import see_tables

if TYPE_CHECKING:
    import pyarrow as pa

FILE: Final = "records.sqlite"
_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS records (
    hook TEXT NOT NULL, url TEXT NOT NULL, version INTEGER NOT NULL, number INTEGER NOT NULL,
    at REAL NOT NULL, record TEXT NOT NULL, PRIMARY KEY (hook, url, version, number)
) WITHOUT ROWID;
"""
_ROWS: Final = "SELECT url, at, version, record FROM records WHERE hook = ? ORDER BY url, version, number"
_OWN: Final = ("url", "at", "version")


class RecordBook:
    """Writer of records; they are durable after `commit`.

    Parameters
    ----------
    directory
        The crawl directory.

    Raises
    ------
    StoreError
        The file is damaged, or was written by a newer version.
    """

    def __init__(self, directory: Path) -> None:
        self._file = open_database(
            directory / FILE, _SCHEMA, _VERSION, synchronous="FULL", instead="restore it from a backup, or remove it"
        )

    def keep(self, hook: str, url: str, version: int, at: float, records: Sequence[Mapping[str, Any]]) -> None:
        """Store the records that a hook made of a version of a page, and replace earlier ones of the same version.

        Raises
        ------
        TypeError
            A record holds a value that is neither a JSON value nor a `datetime`.
        """
        rows = [
            (hook, url, version, number, at, files.json_text(dict(record), _written))
            for number, record in enumerate(records)
        ]
        if not self._file.in_transaction:
            self._file.execute("BEGIN")
        self._file.execute("DELETE FROM records WHERE hook = ? AND url = ? AND version = ?", (hook, url, version))
        self._file.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", rows)

    def commit(self) -> None:
        """Commit written records to disk; any thread may call this."""
        if self._file.in_transaction:
            self._file.execute("COMMIT")

    def close(self) -> None:
        """Commit, and close the file."""
        self.commit()
        self._file.close()


class RecordTable:
    """The records of one hook, each with the page's URL, the instant of the visit and the version.

    Parameters
    ----------
    directory
        The crawl directory.
    hook
        Name of the hook.
    """

    def __init__(self, directory: Path, hook: str) -> None:
        self.directory, self.hook = directory, hook

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each record, sorted by page and version: `url`, `at` (UTC) and `version`, then its own fields."""
        with _opened(self.directory) as file:
            for url, at, version, record in file.execute(_ROWS, (self.hook,)) if file is not None else ():
                yield {"url": url, "at": datetime.fromtimestamp(at, UTC), "version": version} | {
                    f"record_{name}" if name in _OWN else name: value for name, value in json.loads(record).items()
                }

    def arrow(self) -> pa.Table:
        """Return all records in memory; needs the extra `parquet`. A field with values of mixed types becomes JSON."""
        return _arrow(list(self))

    def write(self, path: Path | str) -> int:
        """Write the records to a .parquet or .jsonl file, and return their number.

        Raises
        ------
        ConfigError
            The name has another suffix.
        """
        files.check_name(str(path))
        target = Path(path)
        beside = target.with_name(f"{target.name}.new")
        if target.suffix == ".parquet":
            require_parquet()
            import pyarrow.parquet as pq

            rows = list(self)
            pq.write_table(_arrow(rows), beside)
            count = len(rows)
        else:
            count = 0
            with beside.open("w", encoding="utf-8") as out:
                for row in self:
                    out.write(files.json_text(row, _written) + "\n")
                    count += 1
        beside.replace(target)
        return count


def hooks_of(directory: Path) -> list[str]:
    """Return the names of the hooks that have records."""
    with _opened(directory) as file:
        rows = file.execute("SELECT DISTINCT hook FROM records ORDER BY hook") if file is not None else ()
        return [name for (name,) in rows]


def record_table(directory: Path, hook: str) -> RecordTable:
    """Return the records of a hook.

    Raises
    ------
    ConfigError
        The hook has no records, but other hooks do.
    """
    names = hooks_of(directory)
    if names and hook not in names:
        raise ConfigError(f"the hook {hook!r} has no records; these hooks have: {', '.join(names)}")
    return RecordTable(directory, hook)


@contextlib.contextmanager
def _opened(directory: Path) -> Generator[sqlite3.Connection | None]:
    """Open the records for reading; yield None if there are none yet.

    Raises
    ------
    StoreError
        The file is damaged.
    """
    path = directory / FILE
    if not path.is_file():
        yield None
        return
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
        try:
            see_tables(file)
            begun = file.execute("SELECT 1 FROM sqlite_master WHERE name = 'records'").fetchone()
            yield file if begun else None
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{path} cannot be read ({error}); restore it from a backup, or remove it") from error


def _arrow(rows: Sequence[dict[str, Any]]) -> pa.Table:
    require_parquet()
    import pyarrow as pa  # here, because it takes a tenth of a second to load

    names = list(dict.fromkeys([*_OWN, *(name for row in rows for name in row)]))
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pa.table({name: _column(pa, values) for name, values in columns.items()})


def _column(pa: Any, values: list[Any]) -> Any:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else json.dumps(value, default=_written) for value in values])


def _written(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a record holds {value!r}, which is neither a JSON value nor a datetime")
