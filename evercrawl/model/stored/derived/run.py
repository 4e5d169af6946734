"""A run: the data derived from consecutive events, in a file or in memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from evercrawl.model.stored.derived.column_file import BlockCache, ColumnFile, write_columns
from evercrawl.types import Ints

VERSION: Final = 1
ASCENDING: Final = frozenset({"number", "pointer", "page_slot", "link_target", "minute"})
"""Columns whose values ascend."""
_PREFIX, _SUFFIX = "run-", ".col"


class RunHeader(msgspec.Struct, array_like=True, frozen=True):
    """The source of a run.

    Attributes
    ----------
    version, crawl
        The format's version; the crawl's id.
    first_event, upto_event
        Numbers of its first event, and of the one after its last.
    start, end
        Offsets in the journal of its start and end.
    last_frame, check
        Offset of the last frame before `end`, and its first bytes: if these differ, the journal was cut.
    first_visit, visits
        Number of its first visit, counted over all runs, and number of visits.
    """

    version: int
    crawl: str
    first_event: int
    upto_event: int
    start: int
    end: int
    last_frame: int
    check: bytes
    first_visit: int
    visits: int


class DerivedRun(Protocol):
    """Columns by name; those of visits in journal order, others in ascending order of their key."""

    header: RunHeader

    def count(self, name: str) -> int:
        """Return the number of values of a column."""
        ...

    def slice(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the values [start, stop) of a column."""
        ...

    def take(self, name: str, places: Ints) -> NDArray[Any]:
        """Return the values of a column at positions, shape (n,)."""
        ...

    def spans(self, name: str, values: NDArray[Any]) -> tuple[Ints, Ints]:
        """Return the span of each of ascending distinct `values` in an ascending column."""
        ...


class MemoryRun:
    """A run in memory."""

    def __init__(self, header: RunHeader, columns: dict[str, NDArray[Any]]) -> None:
        self.header, self.columns = header, columns

    def count(self, name: str) -> int:
        """Return the number of values of a column."""
        return len(self.columns[name])

    def slice(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the values [start, stop) of a column."""
        return self.columns[name][start:stop]

    def take(self, name: str, places: Ints) -> NDArray[Any]:
        """Return the values of a column at positions, shape (n,)."""
        return self.columns[name][places]

    def spans(self, name: str, values: NDArray[Any]) -> tuple[Ints, Ints]:
        """Return the span of each of ascending distinct `values` in an ascending column."""
        column = self.columns[name]
        return np.searchsorted(column, values, "left"), np.searchsorted(column, values, "right")


def run_name(header: RunHeader) -> str:
    """Return the name of a run's file: the number of its first event and of the one after its last."""
    return f"{_PREFIX}{header.first_event:012x}-{header.upto_event:012x}{_SUFFIX}"


def run_files(folder: Path) -> list[tuple[int, int, Path]]:
    """Return first event, end event and path of the consecutive runs in a folder, in order.

    If two begin with the same event, the longer one counts: it was merged from the other and its successors.
    """
    found = dict[int, tuple[int, int, Path]]()
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}") if folder.is_dir() else ():
        try:
            first, upto = (int(part, 16) for part in path.name[len(_PREFIX) : -len(_SUFFIX)].split("-"))
        except ValueError:
            continue
        if upto > found.get(first, (0, -1, path))[1]:
            found[first] = first, upto, path
    runs = list[tuple[int, int, Path]]()
    at = 0
    while at in found and found[at][1] > at:
        runs.append(found[at])
        at = found[at][1]
    return runs


def write_run(folder: Path, run: MemoryRun) -> Path:
    """Write a run to a folder and return its path.

    Raises
    ------
    OSError
        It cannot be written.
    """
    path = folder / run_name(run.header)
    write_columns(path, run.header, run.columns, ASCENDING)
    return path


def merged(runs: Sequence[DerivedRun]) -> MemoryRun:
    """Return one run merged from neighbours."""
    first, last = runs[0].header, runs[-1].header
    columns = dict[str, NDArray[Any]]()
    shifts = [run.header.first_visit - first.first_visit for run in runs]
    for name in _names(runs[0]):
        parts = [run.slice(name) for run in runs]
        if name in ("page_row", "link_row", "news_row"):
            parts = [part + np.uint32(shift) for part, shift in zip(parts, shifts, strict=True)]
        columns[name] = np.concatenate(parts)
    for key, others in (("page_slot", ("page_row",)), ("link_target", ("link_row",))):
        order = np.argsort(columns[key], kind="stable")
        for name in (key, *others):
            columns[name] = columns[name][order]
    columns |= _merged_minutes(columns)
    header = msgspec.structs.replace(
        last, first_event=first.first_event, start=first.start, first_visit=first.first_visit,
        visits=sum(run.header.visits for run in runs),
    )  # fmt: skip
    return MemoryRun(header, columns)


def _merged_minutes(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    minute, where = np.unique(columns["minute"], return_inverse=True)
    counted = {"minute": minute}
    for name in (name for name in columns if name.startswith("minute_")):
        sums = np.bincount(where, weights=columns[name], minlength=len(minute))
        counted[name] = sums.astype(columns[name].dtype)
    return counted


def _names(run: DerivedRun) -> list[str]:
    if isinstance(run, MemoryRun):
        return list(run.columns)
    assert isinstance(run, FileRun)
    return run.names()


class FileRun(ColumnFile[RunHeader]):
    """A run in a file."""

    def __init__(self, path: Path, cache: BlockCache) -> None:
        super().__init__(path, RunHeader, cache)

    def names(self) -> list[str]:
        """Return the names of its columns."""
        return list(self._columns)
