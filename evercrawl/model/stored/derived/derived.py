"""The derived files of a crawl: updating and queries. They may be deleted at any time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from evercrawl.errors import StoreError
from evercrawl.model.stored.derived.building import RUN_LINKS, RUN_VISITS, built, frame_check
from evercrawl.model.stored.derived.column_file import BlockCache, DamagedError
from evercrawl.model.stored.derived.run import VERSION, DerivedRun, FileRun, MemoryRun, merged, run_files, write_run
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.model.stored.reader import Tell, events
from evercrawl.store.disk.owner import see_owned
from evercrawl.store.disk.trouble import in_words
from evercrawl.store.journal.events import Event
from evercrawl.store.partition import Partition

FOLDER: Final = "derived"
SAVED_VISITS: Final = 1024
"""Fewer visits, and a few links, are not worth a file: each reader derives them for itself."""
SAVED_LINKS: Final = 1 << 16
_LOCK: Final = "lock"
_WAIT_S: Final = 0.05
_TRIES: Final = 5  # retries while another process merges files

T = TypeVar("T")


class Derived:
    """The derived files of a crawl opened for reading; call `current` before querying.

    Parameters
    ----------
    partition
        The crawl as opened: nothing has read its journal further since.
    saved_visits
        Number of visits that make a file.

    Attributes
    ----------
    runs
        All runs, up to the event at which the crawl was opened.
    kept
        Whether the files are in the crawl's directory; false if it is not writable, or if this is root and the crawl
        is another user's.
    """

    def __init__(self, partition: Partition, saved_visits: int = SAVED_VISITS) -> None:
        self._partition, self._saved_visits = partition, saved_visits
        self._upto, self._end = partition.journal.sequence, partition.journal.position
        self._folder = partition.directory / FOLDER
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._cache = BlockCache()
        self._all: list[DerivedRun] = []
        self.kept = True
        self.runs = Runs([])

    @property
    def events(self) -> int:
        """Return the number of events covered."""
        return self._upto

    def current(self, tell: Tell | None = None) -> Derived:
        """Update to the event at which the crawl was opened, and return self.

        Parameters
        ----------
        tell
            Progress callback: label, done and total events.

        Raises
        ------
        StoreError
            The journal is damaged, or nothing can be written.
        """
        self._load()
        if self._reached()[0] < self._upto:
            self._extend(tell)
        self.runs = Runs(self._all, self._upto)
        return self

    def follow(self) -> None:
        """Take in events newly read from the journal; the caller has folded them into the state."""
        self._upto, self._end = self._partition.journal.sequence, self._partition.journal.position
        reached, position = self._reached()
        if reached < self._upto:
            wanted = events(self._partition, self._upto, position)
            self._all += self._built(wanted, Runs(self._all))
            loose = [run for run in self._all if isinstance(run, MemoryRun)]
            self._all[len(self._all) - len(loose) :] = [merged(loose)]
            if sum(run.header.visits for run in loose) >= self._saved_visits:
                self._extend(None)
        self.runs = Runs(self._all, self._upto)

    def minutes(self, since: float, until: float) -> dict[str, NDArray[np.int64]]:
        """Return counts of visits, changes, errors and bytes by minute, omitting minutes without a visit.

        Parameters
        ----------
        since, until
            Seconds since the epoch; minutes that begin in [since, until) are returned.

        Returns
        -------
        dict
            "minute" (since the epoch, ascending), "visits", "changes", "errors", "bytes"; shape (n,) each.
        """
        names = ("minute", "minute_visits", "minute_changes", "minute_errors", "minute_bytes")
        found = self.runs.gathered(names)
        begun = found["minute"].astype(np.float64) * 60.0
        wanted = (begun >= since) & (begun < until)
        minute, where = np.unique(found["minute"][wanted], return_inverse=True)
        counts = {"minute": minute.astype(np.int64)}
        for name in names[1:]:
            sums = np.bincount(where, weights=found[name][wanted], minlength=len(minute))
            counts[name.removeprefix("minute_")] = sums.astype(np.int64)
        return counts

    def forget(self) -> None:
        """Delete the files."""
        self._all, self._cache, self.runs = [], BlockCache(), Runs([])
        with self._alone():
            for path in self._folder.glob("*.col*"):
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the open files."""
        self._all, self.runs = [], Runs([])
        if self._temporary is not None:
            self._temporary.cleanup()

    def _reached(self) -> tuple[int, int]:
        """Return event and offset up to which runs exist."""
        header = self._all[-1].header if self._all else None
        return (header.upto_event, header.end) if header else (0, 0)

    def _load(self) -> None:
        for _ in range(_TRIES):
            self._all = []
            try:
                for first, _, path in run_files(self._folder):
                    run = FileRun(path, self._cache)
                    if run.header.version != VERSION or run.header.crawl != self._partition.birth.id:
                        raise DamagedError(f"{path} is of another crawl or version")
                    assert run.header.first_event == first
                    self._all.append(run)
                break
            except FileNotFoundError:
                continue  # another process merged it
            except DamagedError:
                break
        while self._all and not self._fits(self._all[-1]):
            self._all.pop()

    def _fits(self, run: DerivedRun) -> bool:
        """Return whether a run was derived from this very journal: a crash may have cut it."""
        header = run.header
        return frame_check(self._partition.disk, header.last_frame) == header.check

    def _extend(self, tell: Tell | None) -> None:
        with self._alone(tell):
            self._load()  # another process may have added runs meanwhile
            self._delete_beyond()
            reached, position = self._reached()
            if reached >= self._upto:
                return
            wanted = events(self._partition, self._upto, position, tell)
            for run in self._built(wanted, Runs(self._all)):
                self._add(run)

    def _built(self, wanted: Iterable[tuple[int, int, Event]], before: Runs) -> Iterator[MemoryRun]:
        """Yield runs of the events after the existing ones."""
        reached, position = self._reached()
        crawl, disk = self._partition.birth.id, self._partition.disk
        for run in built(wanted, before, crawl, (position, reached), self._end, disk):
            yield run
            before.add(run)

    def _delete_beyond(self) -> None:
        """Delete files that do not fit: they are about to be derived again."""
        used = {run.path for run in self._all if isinstance(run, FileRun)}
        for path in self._folder.glob("*.col*"):
            if path not in used:
                path.unlink(missing_ok=True)

    def _add(self, run: MemoryRun) -> None:
        if run.header.visits < self._saved_visits and run.count("link_target") < SAVED_LINKS:
            self._all.append(run)
            return
        with self._in_words():
            run, gone = self._joined(run)
            path = write_run(self._folder, run)
            del self._all[len(self._all) - len(gone) :]
            self._all.append(FileRun(path, self._cache))
            for old in gone:
                old.path.unlink(missing_ok=True)

    def _joined(self, run: MemoryRun) -> tuple[MemoryRun, list[FileRun]]:
        """Return a run merged with its predecessors up to twice its length: few files, rarely rewritten."""
        visits, links = run.header.visits, run.count("link_target")
        gone = list[FileRun]()
        for old in reversed(self._all):
            visits, links = visits + old.header.visits, links + old.count("link_target")
            if old.header.visits > 2 * (visits - old.header.visits) or visits > RUN_VISITS or links > RUN_LINKS:
                break
            assert isinstance(old, FileRun)
            gone.insert(0, old)
        return (merged([*gone, run]) if gone else run), gone

    @contextlib.contextmanager
    def _in_words(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise in_words(error, "write", self._folder) from error

    @contextlib.contextmanager
    def _alone(self, tell: Tell | None = None) -> Generator[None]:
        """Lock out other writers; if the directory is not writable, use a temporary one."""
        fd = self._opened_lock()
        try:
            while fd >= 0:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if tell is not None:
                        tell("events, as another process reads them", 0, self._upto)
                    time.sleep(_WAIT_S)
            for path in self._folder.glob("*.part"):
                path.unlink(missing_ok=True)
            yield
        finally:
            if fd >= 0:
                os.close(fd)

    def _opened_lock(self) -> int:
        if self.kept:
            try:
                see_owned(self._partition.directory)
                self._folder.mkdir(exist_ok=True)
                return os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except (OSError, StoreError):
                self.kept = False
                self._temporary = tempfile.TemporaryDirectory(prefix="evercrawl-")
                self._folder = Path(self._temporary.name)
        return -1


def asked(partition: Partition, question: Callable[[Derived], T], tell: Tell | None = None) -> T:
    """Return the result of a query to the derived files, rebuilding them first if they are damaged.

    Raises
    ------
    StoreError
        The journal is damaged, or nothing can be written.
    """
    derived = Derived(partition)
    try:
        return question(derived.current(tell))
    except DamagedError:
        derived.forget()
        return question(derived.current(tell))
    finally:
        derived.close()
