"""Histories on disk: NAME.events.parquet, NAME.pages.parquet and, if there are links, NAME.links.parquet."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.extras import require_parquet
from evercrawl.lab.histories.history import NO_LINKS, REMOVED, TECHNICAL, History, LinkLog
from evercrawl.types import Ints

_EVENTS: Final[Mapping[str, str]] = dict.fromkeys(
    ("t", "page", "op", "size", "words", "simhash", "content"), "whole numbers"
)
_PAGES: Final[Mapping[str, str]] = {"page": "whole numbers", "path": "text"}
_LINKS: Final[Mapping[str, str]] = {
    "t": "whole numbers",
    "src": "whole numbers",
    "dst": "whole numbers",
    "present": "truth",
}
KINDS: Final = (".events.parquet", ".pages.parquet", ".links.parquet")


def names_in(folder: Path) -> list[str]:
    """Return the names of the histories in a folder, sorted."""
    return sorted(each.name.removesuffix(KINDS[0]) for each in folder.glob(f"*{KINDS[0]}"))


def read_history(path: Path) -> History:
    """Return the history at FOLDER/NAME, or the one to which a named table belongs.

    Raises
    ------
    ConfigError
        A table is missing or invalid.
    """
    name = path.name
    for kind in KINDS:
        name = name.removesuffix(kind)
    events = _read(path.with_name(name + KINDS[0]), _EVENTS)
    pages = _read(path.with_name(name + KINDS[1]), _PAGES)
    number = _whole(pages, "page")
    n = len(number)
    if not np.array_equal(np.sort(number), np.arange(n)):
        raise ConfigError(f"{name}{KINDS[1]}: column page must have each number from 0 once")
    paths: list[object] = pages["path"].to_pylist()
    at, page, size, words, op = (_whole(events, column) for column in ("t", "page", "size", "words", "op"))
    simhash, content = (_whole(events, column).view(np.uint64) for column in ("simhash", "content"))
    _check(name, n, at, (page,), op)
    log = path.with_name(name + KINDS[2])
    return History(
        name, at, page, op.astype(np.int8), size, words, simhash, content,
        tuple(str(paths[row]) for row in np.argsort(number).tolist()), np.zeros(n, np.int64), (name,),
        _link_log(name, log, n) if log.exists() else NO_LINKS,
    )  # fmt: skip


def _link_log(name: str, path: Path, pages: int) -> LinkLog:
    table = _read(path, _LINKS)
    at, source, target = (_whole(table, column) for column in ("t", "src", "dst"))
    _check(name, pages, at, (source, target))
    return LinkLog(at, source, target, table["present"].to_numpy().astype(np.bool_))


def _read(path: Path, columns: Mapping[str, str]) -> Any:
    """Return columns of a table by name, each of the required kind.

    Raises
    ------
    ConfigError
        A column is missing or of another kind.
    """
    require_parquet()
    from pyarrow import ArrowException
    from pyarrow.parquet import read_schema, read_table

    try:
        missing = [name for name in columns if name not in read_schema(path).names]
        table = None if missing else read_table(path, columns=list(columns))
    except FileNotFoundError:
        raise ConfigError(f"there is no {path}: a history is FOLDER/NAME{KINDS[0]} and FOLDER/NAME{KINDS[1]}") from None
    except (ArrowException, OSError) as wrong:
        reason = str(wrong).splitlines()[0]
        raise ConfigError(f"{path} cannot be read as a Parquet table; write it again: {reason}") from None
    if table is None:
        raise ConfigError(f"{path} has no column {', '.join(missing)}: it must have {', '.join(columns)}")
    for name, kind in columns.items():
        of = table.schema.field(name).type
        if not _is(kind, of) or table[name].null_count:
            gaps = ", with nulls" if table[name].null_count else ""
            raise ConfigError(f"{path}: column {name} must be {kind} in each row, not {of}{gaps}")
    return table


def _is(kind: str, of: Any) -> bool:
    """Return whether a column's type is of a kind."""
    from pyarrow import types

    if types.is_dictionary(of):
        return _is(kind, of.value_type)
    asked = {
        "whole numbers": (types.is_integer,),
        "text": (types.is_string, types.is_large_string),
        "truth": (types.is_boolean, types.is_integer),
    }
    return any(each(of) for each in asked[kind])


def _whole(table: Any, column: str) -> Ints:
    """Return a column of integers; unsigned 64-bit values keep their bits."""
    numbers: Ints = table[column].to_numpy().astype(np.int64)
    return numbers


def _check(name: str, pages: int, at: Ints, named: Iterable[Ints], op: Ints | None = None) -> None:
    if len(at) and (np.diff(at) < 0).any():
        raise ConfigError(f"{name}: rows must be sorted by t")
    for page in named:
        if len(page) and not (page.min() >= 0 and page.max() < pages):
            raise ConfigError(f"{name}: a row names a page that {name}{KINDS[1]} does not list")
    if op is not None and len(op) and not (op.min() >= 0 and op.max() <= TECHNICAL):
        raise ConfigError(f"{name}: op must be 0, 1, {REMOVED} or {TECHNICAL}")
