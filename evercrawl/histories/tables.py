"""Histories on disk: NAME.events.parquet, NAME.pages.parquet and, where pages link, NAME.links.parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.histories.history import NO_LINKS, REMOVED, TECHNICAL, History, LinkLog

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from evercrawl.types import Ints

_EVENTS: Final = ("t", "page", "op", "size", "words", "simhash", "content")
_PAGES: Final = ("page", "path")
_LINKS: Final = ("t", "src", "dst", "present")
KINDS: Final = (".events.parquet", ".pages.parquet", ".links.parquet")


def names_in(folder: Path) -> list[str]:
    """Return the names of the histories in a folder, sorted."""
    return sorted(each.name.removesuffix(KINDS[0]) for each in folder.glob(f"*{KINDS[0]}"))


def read_history(path: Path) -> History:
    """Return the history at FOLDER/NAME, or of which one of the tables is named.

    Raises
    ------
    ConfigError
        Where a table is missing, or is not what it should be.
    """
    name = path.name
    for kind in KINDS:
        name = name.removesuffix(kind)
    events = _read(path.with_name(name + KINDS[0]), _EVENTS)
    pages = _read(path.with_name(name + KINDS[1]), _PAGES)
    number: Ints = pages["page"].to_numpy().astype(np.int64)
    n = len(number)
    if not np.array_equal(np.sort(number), np.arange(n)):
        raise ConfigError(f"{name}{KINDS[1]}: column page must number the pages from 0, each once")
    paths: list[object] = pages["path"].to_pylist()
    columns = {column: events[column].to_numpy() for column in _EVENTS}
    at, page, size, words = (columns[column].astype(np.int64) for column in ("t", "page", "size", "words"))
    op = columns["op"].astype(np.int8)
    _check(name, n, at, (page,), op)
    log = path.with_name(name + KINDS[2])
    return History(
        name, at, page, op, size, words, columns["simhash"].astype(np.uint64), columns["content"].astype(np.uint64),
        tuple(str(paths[row]) for row in np.argsort(number).tolist()), np.zeros(n, np.int64), (name,),
        _link_log(name, log, n) if log.exists() else NO_LINKS,
    )  # fmt: skip


def _link_log(name: str, path: Path, pages: int) -> LinkLog:
    table = _read(path, _LINKS)
    at, source, target = (table[column].to_numpy().astype(np.int64) for column in _LINKS[:3])
    _check(name, pages, at, (source, target))
    return LinkLog(at, source, target, table["present"].to_numpy().astype(np.bool_))


def _read(path: Path, columns: Iterable[str]) -> Any:
    """Return columns of a table, by name."""
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    try:
        return read_table(path, columns=list(columns))
    except FileNotFoundError:
        raise ConfigError(f"there is no {path}: a history is FOLDER/NAME{KINDS[0]} and FOLDER/NAME{KINDS[1]}") from None
    except (ArrowException, OSError) as wrong:
        raise ConfigError(f"{path} cannot be read as a table with the columns {', '.join(columns)}: {wrong}") from None


def _check(name: str, pages: int, at: Ints, named: Iterable[Ints], op: NDArray[np.int8] | None = None) -> None:
    if len(at) and (np.diff(at) < 0).any():
        raise ConfigError(f"{name}: rows must be sorted by t")
    for page in named:
        if len(page) and not (page.min() >= 0 and page.max() < pages):
            raise ConfigError(f"{name}: there is a row of a page that {name}{KINDS[1]} does not list")
    if op is not None and len(op) and not (op.min() >= 0 and op.max() <= TECHNICAL):
        raise ConfigError(f"{name}: op must be 0, 1, {REMOVED} or {TECHNICAL}")
