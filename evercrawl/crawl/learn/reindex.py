"""Rebuilding of the search index from records and archive."""

import ctypes
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from evercrawl import __version__
from evercrawl.clock import SystemClock
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.stored.indexed import entry_of, expected
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.search.anchors import Anchors
from evercrawl.search.index import FOLDER, Index, IndexedPage
from evercrawl.store.birth import is_crawl
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.trouble import in_words
from evercrawl.store.partition import Partition

TOGETHER: Final = 64  # pages written to the index at once
COMMITTED_TOGETHER: Final = 20_000  # pages between two commits
MAKING: Final = "search.new"  # folder of the new index; the old index serves until the new one is complete
_HERE: Final = -100  # AT_FDCWD
_EXCHANGE: Final = 2  # RENAME_EXCHANGE


class Reindexed(NamedTuple):
    """The result of a rebuild: the number of indexed pages, and a message on each page that could not be read."""

    pages: int
    troubles: list[str]


def reindex(directory: Path, watch: Callable[[str, int, int], None] = lambda what, done, total: None) -> Reindexed:
    """Rebuild the search index of the crawl in `directory`; no crawl may be running there.

    Parameters
    ----------
    directory
        Crawl directory.
    watch
        Called now and then with the current phase, how much of it is done, and the total.

    Raises
    ------
    ConfigError
        There is no crawl in the directory.
    StoreError
        A crawl is running there, or the disk fails; the old index is unchanged.
    """
    if not is_crawl(directory):
        raise ConfigError(f"there is no crawl in {directory}; name its directory with --dir")
    now = SystemClock().now()
    partition = Partition(
        directory, os.urandom, now=now, software=f"evercrawl/{__version__}", site=found_site,
        site_rules=site_rules(), lock=Lock.take(directory, "reindexing", now), forgiving=True,
    )  # fmt: skip
    try:
        return _remade(partition, watch)
    except OSError as error:
        raise in_words(error, "write", directory / FOLDER) from error
    finally:
        partition.close()


def _remade(partition: Partition, watch: Callable[[str, int, int], None]) -> Reindexed:
    making, final = partition.directory / MAKING, partition.directory / FOLDER
    shutil.rmtree(making, ignore_errors=True)
    index, troubles = Index(making), list[str]()
    try:
        total = _fill(index, partition, troubles, watch)
    finally:
        index.close()
    if _exchanged(making, final):
        shutil.rmtree(making, ignore_errors=True)
    else:
        shutil.rmtree(final, ignore_errors=True)
        making.rename(final)
    return Reindexed(total, troubles)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders at once, so that a kill leaves either; return False if the system or one of them cannot."""
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    return exchange is not None and not exchange(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)


def _fill(index: Index, partition: Partition, troubles: list[str], watch: Callable[[str, int, int], None]) -> int:
    anchors, slots = Anchors(), expected(partition.state)[0].tolist()
    for start in range(0, len(slots), TOGETHER):
        watch("pages", start, len(slots))
        _put(index, partition, anchors, slots[start : start + TOGETHER], troubles)
        if start and start % COMMITTED_TOGETHER < TOGETHER:
            index.commit(-1)
    index.commit(partition.journal.sequence)
    watch("pages", len(slots), len(slots))
    return len(slots) - len(troubles)


def _put(index: Index, partition: Partition, anchors: Anchors, slots: list[int], troubles: list[str]) -> None:
    pages, words = list[IndexedPage](), list[tuple[int, str]]()
    for slot in slots:
        try:
            entry = entry_of(partition, slot, anchors)
        except StoreError as error:
            troubles.append(f"{partition.state.urls.get(slot)}: {error}")
            continue
        if entry is not None:
            pages.append(entry.page)
            words += entry.anchors
    index.put(pages)
    index.add_anchors(words)
