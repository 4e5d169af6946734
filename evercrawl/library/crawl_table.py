"""A table of a crawl, read lazily: rows for Python, record batches for Arrow consumers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evercrawl.ask.export import files
from evercrawl.ask.export.tables import TABLES, Columns, table
from evercrawl.errors import ConfigError
from evercrawl.extras import require_parquet
from evercrawl.model.stored.reader import opened

if TYPE_CHECKING:
    import pyarrow as pa


class CrawlTable:
    """One table of a crawl: pages, links or visits.

    The table is read in batches during iteration, and each iteration reads the current state of the crawl. Polars,
    DuckDB, pandas and pyarrow accept it through the Arrow stream protocol (`__arrow_c_stream__`).

    Parameters
    ----------
    directory
        The crawl directory.
    name
        One of `evercrawl.ask.export.tables.TABLES`.

    Attributes
    ----------
    columns
        Column name -> string, int, float, bool or instant.

    Raises
    ------
    ConfigError
        There is no such table.
    """

    def __init__(self, directory: Path, name: str) -> None:
        if name not in TABLES:
            raise ConfigError(f"there is no table {name!r}; the tables are {', '.join(TABLES)}")
        self.directory = directory
        self.name = name
        self.columns: Final = TABLES[name]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dict of column name -> value; instants are `datetime` objects in UTC."""
        instants = [name for name, kind in self.columns.items() if kind == "instant"]
        for piece in self._pieces():
            for name in instants:
                piece[name] = [None if at is None else datetime.fromtimestamp(at, UTC) for at in piece[name]]
            for row in zip(*piece.values(), strict=True):
                yield dict(zip(piece, row, strict=True))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the table as Arrow record batches of about 65,536 rows; needs the extra `parquet`."""
        require_parquet()
        for piece in self._pieces():
            yield from files.arrow_table(piece, self.columns).to_batches()

    def arrow(self) -> pa.Table:
        """Return the whole table in memory; needs the extra `parquet`."""
        return self._reader().read_all()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as an Arrow stream of record batches."""
        return self._reader().__arrow_c_stream__(requested_schema)

    def write(self, path: Path | str) -> int:
        """Write the table to a .parquet or .jsonl file, and return the number of rows.

        The file gets its name only once it is complete.

        Raises
        ------
        ConfigError
            The name has another suffix.
        StoreError
            The file cannot be written.
        """
        if str(path) == "-":
            raise ConfigError("name a file that ends in .parquet or .jsonl")
        files.check_name(str(path))
        with files.opened(Path(path), self.columns) as sink:
            return files.write(self._pieces(), sink)

    def _reader(self) -> pa.RecordBatchReader:
        require_parquet()
        import pyarrow as pa  # here, because it takes a tenth of a second to load

        return pa.RecordBatchReader.from_batches(files.arrow_schema(self.columns), self.batches())

    def _pieces(self) -> Iterator[Columns]:
        partition = opened(self.directory)
        try:
            yield from table(partition, self.name)
        finally:
            partition.close()
