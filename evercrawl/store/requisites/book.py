"""The requisites of a crawl in a SQLite table: a fold of the journal, rebuilt from it if they do not match."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
import xxhash

from evercrawl.errors import StoreError
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.disk.tables import see_tables
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import Event
from evercrawl.store.journal.requisite_events import LOST_REQUISITE, RequisiteFetched, RequisitesNeeded
from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from evercrawl.store.journal.journal import Journal

REQUISITES_FILE: Final = "requisites.sqlite"
FILES: Final = (REQUISITES_FILE, f"{REQUISITES_FILE}-wal", f"{REQUISITES_FILE}-shm")
_VERSION: Final = 1
_PIECE: Final = 500  # values in one query
_COLUMNS: Final = (
    "number, url, at, status, error, segment, offset, length, body_at, stale_at, retry_at, tries, etag, last_modified, "
    "mime, payload, wire_bytes, depth, root, owed"
)
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS requisites (
    number INTEGER PRIMARY KEY, url TEXT NOT NULL, at REAL NOT NULL DEFAULT 0, status INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '', segment INTEGER, offset INTEGER, length INTEGER, body_at REAL NOT NULL DEFAULT 0,
    stale_at REAL NOT NULL DEFAULT 0, retry_at REAL NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
    etag TEXT NOT NULL DEFAULT '', last_modified TEXT NOT NULL DEFAULT '', mime TEXT NOT NULL DEFAULT '',
    payload TEXT NOT NULL DEFAULT '', wire_bytes INTEGER NOT NULL DEFAULT 0, owed INTEGER NOT NULL DEFAULT 1,
    depth INTEGER NOT NULL DEFAULT 0, root INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS by_url ON requisites (url) WHERE url != '';
CREATE INDEX IF NOT EXISTS owed ON requisites (retry_at) WHERE owed;
CREATE INDEX IF NOT EXISTS by_root ON requisites (root);
CREATE TABLE IF NOT EXISTS needs (
    owner INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (owner, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS needed_by ON needs (number);
CREATE TABLE IF NOT EXISTS owners (owner INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS folded (one INTEGER PRIMARY KEY, pointer INTEGER, number INTEGER, mark BLOB);
"""


class KnownRequisite(NamedTuple):
    """One requisite.

    Attributes
    ----------
    number, url
        Its number and URL; "" if it was forgotten.
    at, status, error
        Time of the last request, 0 for never, and its result.
    archive, body_at
        Position of its content, and when it was received; None and 0 if there is none.
    stale_at, retry_at, tries
        As in `RequisiteFetched`; number of consecutive failures.
    etag, last_modified, mime, payload, wire_bytes
        Of its content; bytes received in total.
    depth, root
        Number of styles, scripts and redirects between it and the page that first needed it; the slot of that page.
    owed
        Whether it must be requested.
    """

    number: int
    url: str
    at: float
    status: int
    error: str
    archive: Pointer | None
    body_at: float
    stale_at: float
    retry_at: float
    tries: int
    etag: str
    last_modified: str
    mime: str
    payload: str
    wire_bytes: int
    depth: int
    root: int
    owed: bool


class RequisiteCounts(NamedTuple):
    """Numbers of known, archived, owed and failed requisites, and bytes received."""

    known: int = 0
    archived: int = 0
    owed: int = 0
    failed: int = 0
    received_bytes: int = 0


class RequisiteBook:
    """All known requisites, and which of them are owed.

    Parameters
    ----------
    file
        Connection to the database.

    Examples
    --------
    >>> book = RequisiteBook.opened(":memory:")
    >>> book.fold(RequisitesNeeded(1.0, 7, -1, 0, ["http://a.example/x.png"]), 0, 0)
    >>> [one.url for one in book.owed(1.0, 9)]
    ['http://a.example/x.png']
    >>> book.fold(RequisiteFetched(0, 2.0, 200, archive=Pointer(0, 1, 2), stale_at=9.0), 1, 1)
    >>> book.owed(2.0, 9), book.counts().archived
    ([], 1)
    >>> book.close()
    """

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file
        self._begun = False

    @classmethod
    def opened(cls, path: str) -> RequisiteBook:
        """Open the table for writing; `path` is the SQLite file, or ":memory:" for a temporary table.

        Raises
        ------
        StoreError
            The file cannot be written.
        """
        return cls(_opened(path))

    # The journal

    def follow(self, journal: Journal) -> None:
        """Fold the events of the journal that the table lacks; all events, if the table does not match the journal.

        Raises
        ------
        StoreError
            The journal is damaged.
        """
        start, number = 0, -1
        row = self._file.execute("SELECT pointer, number, mark FROM folded").fetchone()
        if row is not None and self._fits(journal, *row):
            pointer, number, _ = row
            start = pointer >> 8
        elif row is not None:
            self._begin()
            for table in ("requisites", "needs", "owners", "folded"):
                self._file.execute(f"DELETE FROM {table}")
        last: tuple[Event, int, int] | None = None
        for pointer, count, event in journal.replay(start):
            if count > number:
                if isinstance(event, (RequisitesNeeded, RequisiteFetched)):
                    self._apply(event)
                last = event, pointer, count
        if last is not None:
            self._mark(*last)
        self.commit()

    def fold(self, event: RequisitesNeeded | RequisiteFetched, pointer: int, number: int) -> None:
        """Fold one event of the journal."""
        self._apply(event)
        self._mark(event, pointer, number)

    def commit(self) -> None:
        """Write the changes to the disk; after a crash, missing ones are folded again from the journal."""
        if self._begun:
            self._begun = False
            self._file.execute("COMMIT")

    def close(self) -> None:
        """Commit and close the file; what a full disk rejects is folded again at the next start."""
        with contextlib.suppress(sqlite3.Error):
            self.commit()
        self._file.close()

    def _begin(self) -> None:
        if not self._begun:
            self._file.execute("BEGIN")
            self._begun = True

    def _fits(self, journal: Journal, pointer: int, number: int, mark: bytes) -> bool:
        if number >= journal.sequence:
            return False
        with contextlib.suppress(StoreError):
            return _mark_of(journal.read(pointer)) == mark
        return False

    def _mark(self, event: Event, pointer: int, number: int) -> None:
        self._begin()
        self._file.execute("REPLACE INTO folded VALUES (1, ?, ?, ?)", (pointer, number, _mark_of(event)))

    def _apply(self, event: RequisitesNeeded | RequisiteFetched) -> None:
        self._begin()
        if isinstance(event, RequisiteFetched):
            self._came(event)
            return
        depth, root = 0, event.slot
        if event.slot == NO_SLOT:
            above = "SELECT depth + 1, root FROM requisites WHERE number = ?"
            depth, root = self._file.execute(above, (event.of,)).fetchone() or (0, NO_SLOT)
        new = [(event.first + place, url, int(bool(url)), depth, root) for place, url in enumerate(event.urls)]
        columns = "(number, url, owed, depth, root)"
        self._file.executemany(f"INSERT INTO requisites {columns} VALUES (?, ?, ?, ?, ?)", new)
        known: list[int] = decode_slots(event.known).tolist() if event.known else []
        owner = owner_of(event.slot, event.of)
        self._file.execute("DELETE FROM needs WHERE owner = ?", (owner,))
        numbers = [*known, *(int(number) for number, *_ in new)]
        self._file.executemany("INSERT OR IGNORE INTO needs VALUES (?, ?)", [(owner, number) for number in numbers])
        self._file.execute("INSERT OR IGNORE INTO owners VALUES (?)", (owner,))
        for piece in _pieces(known):
            self._file.execute(
                f"UPDATE requisites SET owed = 1, retry_at = 0, tries = 0 WHERE NOT owed AND stale_at <= ? "
                f"AND url != '' AND number IN ({_marks(piece)})", (event.at, *piece),
            )  # fmt: skip

    def _came(self, event: RequisiteFetched) -> None:
        if event.error == LOST_REQUISITE and not event.retry_at:
            return  # that record did not have the current content: nothing changes
        self._file.execute(
            "UPDATE requisites SET at = ?, status = ?, error = ?, stale_at = ?, retry_at = ?, owed = ?, "
            "tries = CASE WHEN ? THEN tries + 1 ELSE 0 END, wire_bytes = wire_bytes + ? WHERE number = ?",
            (event.at, event.status, event.error, event.stale_at, event.retry_at, int(event.retry_at > 0),
             event.retry_at > 0, event.wire_bytes, event.number),
        )  # fmt: skip
        if event.error == LOST_REQUISITE:
            self._file.execute(
                "UPDATE requisites SET segment = NULL, body_at = 0, etag = '', last_modified = '', payload = '' "
                "WHERE number = ?", (event.number,),
            )  # fmt: skip
            return
        if event.archive is None or event.unchanged:
            return
        self._file.execute(
            "UPDATE requisites SET segment = ?, offset = ?, length = ?, body_at = ?, etag = ?, last_modified = ?, "
            "mime = ?, payload = ? WHERE number = ?",
            (*event.archive, event.at, event.etag, event.last_modified, event.mime, event.payload, event.number),
        )

    # Questions

    @property
    def count(self) -> int:
        """Return how many numbers have been assigned."""
        (last,) = self._file.execute("SELECT max(number) FROM requisites").fetchone()
        return 0 if last is None else int(last) + 1

    def numbers(self, urls: Sequence[str]) -> dict[str, int]:
        """Return the numbers of those URLs that are known."""
        found = dict[str, int]()
        for piece in _pieces(urls):
            query = f"SELECT url, number FROM requisites WHERE url IN ({_marks(piece)})"
            found.update(self._file.execute(query, piece).fetchall())
        return found

    def examined(self, slot: int, of: int = -1) -> bool:
        """Return whether the needs of a page, or of a requisite, are known."""
        query = "SELECT 1 FROM owners WHERE owner = ?"
        return self._file.execute(query, (owner_of(slot, of),)).fetchone() is not None

    def needs(self, slot: int, of: int = -1) -> list[int]:
        """Return the numbers of what a page, or a requisite, needs."""
        query = "SELECT number FROM needs WHERE owner = ? ORDER BY number"
        return [number for (number,) in self._file.execute(query, (owner_of(slot, of),))]

    def any_stale(self, numbers: Sequence[int], now: float) -> bool:
        """Return whether one of these must be requested again when something needs it."""
        return any(
            self._file.execute(
                f"SELECT 1 FROM requisites WHERE NOT owed AND url != '' AND stale_at <= ? AND number IN "
                f"({_marks(piece)}) LIMIT 1", (now, *piece),
            ).fetchone()
            for piece in _pieces(numbers)
        )  # fmt: skip

    def owners(self, number: int, most: int = 10) -> tuple[list[int], int]:
        """Return up to `most` slots of pages that need a requisite, also through styles; and their total number."""
        query = """
            WITH RECURSIVE up (owner) AS (
                SELECT owner FROM needs WHERE number = ?
                UNION SELECT needs.owner FROM needs JOIN up ON needs.number = -1 - up.owner WHERE up.owner < 0
            ) SELECT owner FROM up WHERE owner >= 0 ORDER BY owner"""
        found = [slot for (slot,) in self._file.execute(query, (number,))]
        return found[:most], len(found)

    def needed_by(self, numbers: Sequence[int], most: int) -> tuple[list[int], list[int]]:
        """Return up to `most` pages, and numbers of up to `most` requisites, that need any of these directly."""
        found = tuple[list[int], list[int]](([], []))
        for place, kind in enumerate((">= 0", "< 0")):
            query = f"SELECT DISTINCT owner FROM needs WHERE number IN ({_marks(numbers)}) AND owner {kind} LIMIT ?"
            owners = (owner for (owner,) in self._file.execute(query, (*numbers, most)))
            found[place].extend(owner if owner >= 0 else -1 - owner for owner in owners)
        return found

    def under(self, slot: int) -> list[int]:
        """Return the numbers of all that a page needs, directly or through styles."""
        query = """
            WITH RECURSIVE down (number) AS (
                SELECT number FROM needs WHERE owner = ?
                UNION SELECT needs.number FROM needs JOIN down ON needs.owner = -1 - down.number
            ) SELECT number FROM down ORDER BY number"""
        return [number for (number,) in self._file.execute(query, (slot,))]

    def of(self, numbers: Sequence[int]) -> list[KnownRequisite]:
        """Return the data of some requisites."""
        found = list[KnownRequisite]()
        for piece in _pieces(numbers):
            found += self._rows(f"number IN ({_marks(piece)})", piece)
        return found

    def owed(
        self, now: float, most: int, but: Iterable[int] = (), after: tuple[float, int] | None = None
    ) -> list[KnownRequisite]:
        """Return up to `most` requisites to be requested now, except `but`, the longest waiting first.

        `after` gives `retry_at` and the number of the one after which they begin.
        """
        left_out = tuple(but)
        where = f"owed AND retry_at <= ? AND number NOT IN ({','.join(map(str, left_out))})"
        where += " AND (retry_at, number) > (?, ?)" if after is not None else ""
        return self._rows(f"{where} ORDER BY retry_at, number LIMIT {most}", (now, *(after or ())))

    def next_at(self) -> float:
        """Return when the next request is due; infinity if none is owed."""
        (first,) = self._file.execute("SELECT min(retry_at) FROM requisites WHERE owed").fetchone()
        return float("inf") if first is None else float(first)

    def rooted(self, root: int) -> int:
        """Return how many requisites a page was the first to need, directly or through styles."""
        return int(self._file.execute("SELECT count(*) FROM requisites WHERE root = ?", (root,)).fetchone()[0])

    def counts(self) -> RequisiteCounts:
        """Return the counts."""
        query = """SELECT count(*), count(segment), coalesce(sum(owed), 0),
            coalesce(sum(NOT owed AND segment IS NULL AND at > 0), 0), coalesce(sum(wire_bytes), 0)
            FROM requisites WHERE url != ''"""
        return RequisiteCounts(*self._file.execute(query).fetchone())

    def _rows(self, where: str, values: Sequence[object]) -> list[KnownRequisite]:
        query = f"SELECT {_COLUMNS} FROM requisites WHERE {where}"
        return [_known(row) for row in self._file.execute(query, tuple(values))]


@contextlib.contextmanager
def read_book(directory: Path) -> Generator[RequisiteBook | None]:
    """Open a crawl's requisites for reading; yield None if there are none, or they cannot be read."""
    path, file = directory / REQUISITES_FILE, None
    way = "ro" if path.with_name(f"{path.name}-wal").exists() else "ro&immutable=1"  # create no files beside it
    try:
        if path.is_file():
            file = sqlite3.connect(f"{path.absolute().as_uri()}?mode={way}", uri=True, isolation_level=None)
            see_tables(file)
            file.execute("SELECT one FROM folded").fetchall()
    except sqlite3.Error:
        if file is not None:
            file.close()
        file = None
    if file is None:
        yield None
        return
    try:
        yield RequisiteBook(file)
    finally:
        file.close()


def owner_of(slot: int, of: int) -> int:
    """Return the number that identifies the owner of needs, a page or a requisite.

    >>> owner_of(7, -1), owner_of(NO_SLOT, 0)
    (7, -1)
    """
    return slot if slot != NO_SLOT else -1 - of


def _opened(path: str) -> sqlite3.Connection:
    """Return the table; an unreadable one is replaced by an empty one, to be rebuilt from the journal."""
    with contextlib.suppress(sqlite3.Error):
        return _connected(path)
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(OSError):
            Path(path + ending).unlink()
    try:
        return _connected(path)
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be written: {error}") from error


def _connected(path: str) -> sqlite3.Connection:
    file = sqlite3.connect(path, isolation_level=None)
    try:
        file.execute("PRAGMA trusted_schema = OFF")
        see_tables(file)
        file.execute("PRAGMA secure_delete = ON")
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = NORMAL")
        (version,) = file.execute("PRAGMA user_version").fetchone()
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError("of another version")
        file.executescript(_SCHEMA)
        file.execute(f"PRAGMA user_version = {_VERSION}")
        file.execute(f"SELECT {_COLUMNS} FROM requisites LIMIT 1").fetchall()
    except sqlite3.Error:
        file.close()
        raise
    return file


def _mark_of(event: Event) -> bytes:
    return xxhash.xxh3_64_digest(msgspec.msgpack.encode(event))


def _marks(piece: Sequence[object]) -> str:
    return ",".join("?" * len(piece))


def _pieces(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), _PIECE):
        yield values[start : start + _PIECE]


def _known(row: tuple[Any, ...]) -> KnownRequisite:
    named = dict(zip(_COLUMNS.split(", "), row, strict=True))
    segment, offset, length = (named.pop(name) for name in ("segment", "offset", "length"))
    named["archive"] = Pointer(segment, offset, length) if segment is not None else None
    named["owed"] = bool(named["owed"])
    return KnownRequisite(**named)


def encoded(numbers: Iterable[int]) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Return numbers encoded by `codec.encode_slots`."""
    return np.array(sorted(numbers), np.uint32)
