"""Writing of tables to files: Parquet row groups or JSON lines; a file gets its name once it is complete."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from evercrawl.ask.export.tables import Columns
from evercrawl.errors import ConfigError
from evercrawl.extras import require_parquet
from evercrawl.store.archive.warc import iso_date
from evercrawl.store.disk.whole import atomic_file

if TYPE_CHECKING:
    import pyarrow as pa

_ENDS: Final = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, *range(0xD800, 0xE000))}


class Out(Protocol):
    """A target of lines."""

    def writelines(self, lines: Iterable[str], /) -> None:
        """Write the lines."""
        ...


class Sink(Protocol):
    """A target of the pieces of a table."""

    def add(self, piece: Columns) -> None:
        """Write one piece."""
        ...


def json_text(row: object, default: Callable[[object], object] | None = None) -> str:
    r"""Return a row as one line of JSON, not ASCII-escaped except for characters that some readers take for line ends.

    Examples
    --------
    >>> print(json_text({"title": "caf\u00e9 a\u2028{}\x85b"}))
    {"title": "café a\u2028{}\u0085b"}
    """
    return json.dumps(row, default=default, ensure_ascii=False).translate(_ENDS)


class JsonRows:
    """A sink of JSON lines: one object per row, instants as ISO 8601 in UTC."""

    def __init__(self, out: Out, columns: dict[str, str]) -> None:
        self._out = out
        self._instants = [name for name, kind in columns.items() if kind == "instant"]

    def add(self, piece: Columns) -> None:
        """Write one piece."""
        for name in self._instants:
            piece[name] = [None if at is None else iso_date(at) for at in piece[name]]
        rows = (dict(zip(piece, row, strict=True)) for row in zip(*piece.values(), strict=True))
        self._out.writelines(json_text(row) + "\n" for row in rows)


class Parquet:
    """A sink of Parquet: one row group per piece, instants as timestamps with microseconds, in UTC."""

    def __init__(self, path: Path, columns: dict[str, str]) -> None:
        require_parquet()
        import pyarrow.parquet as pq  # here, because it takes a tenth of a second to load

        self._columns = columns
        self._writer = pq.ParquetWriter(path, arrow_schema(columns), compression="zstd")

    def add(self, piece: Columns) -> None:
        """Write one piece."""
        self._writer.write_table(arrow_table(piece, self._columns))

    def close(self) -> None:
        """Write the footer and close the file."""
        self._writer.close()


def arrow_schema(columns: dict[str, str]) -> pa.Schema:
    """Return the Arrow schema of a table; instants are timestamps with microseconds, in UTC."""
    import pyarrow as pa

    types = {
        "string": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(),
        "instant": pa.timestamp("us", tz="UTC"),
    }  # fmt: skip
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


def arrow_table(piece: Columns, columns: dict[str, str]) -> pa.Table:
    """Return a piece as an Arrow table, which needs pyarrow; the piece's instants are converted in place."""
    import pyarrow as pa

    for name, kind in columns.items():
        if kind == "instant":
            piece[name] = [None if at is None else round(at * 1e6) for at in piece[name]]
    return pa.table(dict(piece), schema=arrow_schema(columns))


def check_name(name: str) -> None:
    """Check that a table can be written to a file called `name`.

    Raises
    ------
    ConfigError
        Its suffix is not that of a known format, or this installation cannot write the format.

    >>> check_name("pages.csv")
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: pages.csv: name a file that ends in .parquet or .jsonl, or - for JSON lines here
    """
    if name != "-" and not name.endswith((".parquet", ".jsonl")):
        raise ConfigError(f"{name}: name a file that ends in .parquet or .jsonl, or - for JSON lines here")
    if name.endswith(".parquet"):
        require_parquet()


def write(pieces: Iterable[Columns], sink: Sink) -> int:
    """Write all pieces, and return the number of rows."""
    rows = 0
    for piece in pieces:
        rows += len(next(iter(piece.values())))
        sink.add(piece)
    return rows


@contextlib.contextmanager
def opened(path: Path, columns: dict[str, str]) -> Generator[Sink]:
    """Yield a sink for a file that gets its name only if everything was written.

    Raises
    ------
    StoreError
        The file cannot be written; `NoRoomError` if the disk is full.
    """
    with atomic_file(path) as temporary:
        if path.suffix == ".parquet":
            with contextlib.closing(Parquet(temporary, columns)) as parquet:
                yield parquet
        else:
            with temporary.open("w", encoding="utf-8") as out:
                yield JsonRows(out, columns)
