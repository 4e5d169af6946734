"""A link graph that changes as recorded in a link log, while it is visited."""

from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.extras import require_parquet
from evercrawl.lab.engine.living import ChangingWeb, LinkRows
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints, Spans

_COLUMNS: Final = ("t", "src", "dst", "present")
_PER_PAGE: Final = 100_000  # page numbers up to this are accepted even if there are fewer links


class RecordedWeb(ChangingWeb):
    """A graph that follows a log: at `at` page `source` began, or ceased, to link to page `target`.

    All pages exist from the beginning, including those without links to them.

    Parameters
    ----------
    at, source, target, present
        The log in time order, shape (entries,).
    begins
        Share of the log's entries applied before the first visit.
    turns
        Visits per page over the length of the log: each visit advances time by the same step.

    Examples
    --------
    >>> at, source, target = np.array([0.0, 1.0, 2.0]), np.array([0, 1, 0]), np.array([1, 0, 1])
    >>> web = RecordedWeb(at, source, target, np.array([True, True, False]), begins=0.7, turns=2)
    >>> web.now().links
    2
    >>> web.some_change(4)
    >>> web.now().links, web.changed
    (1, 1)
    """

    def __init__(
        self, at: Floats, source: Ints, target: Ints, present: np.ndarray, begins: float = 0.3, turns: int = 10
    ) -> None:
        count = int(max(source.max(), target.max())) + 1
        self._at, self._source, self._target, self._present = at, source, target, present
        self._links: list[set[int]] = [set[int]() for _ in range(count)]
        self._entry = 0
        self.changed = 0
        self._step(max(int(begins * len(at)), 1))
        self._now_at = float(at[self._entry - 1])
        self._each_s = (float(at[-1]) - self._now_at) / max(turns * count, 1)
        super().__init__(self._web_now(count))
        self.changed = 0

    @classmethod
    def read(cls, path: Path, turns: int, begins: float = 0.3) -> Self:
        """Return the web of a Parquet file with the columns t, src, dst and present.

        Raises
        ------
        ConfigError
            The file does not have that form.
        """
        require_parquet()
        from pyarrow import ArrowException
        from pyarrow.parquet import read_table

        try:
            table: Any = read_table(path, columns=list(_COLUMNS))
            at, source, target, present = (np.asarray(table[name].to_numpy()) for name in _COLUMNS)
        except (ArrowException, OSError, KeyError, ValueError, TypeError) as error:
            why = str(error).partition("\n")[0]
            raise ConfigError(
                f"--graph {path} cannot be read as a link log: {why}; it must be a Parquet file with the columns "
                "t, src, dst and present"
            ) from error
        if not len(at) or min(source.min(), target.min()) < 0 or (np.diff(at) < 0).any():
            raise ConfigError(f"--graph {path}: a link log needs entries in order of t, with page numbers from 0")
        if max(source.max(), target.max()) > max(_PER_PAGE, 100 * len(at)):
            raise ConfigError(f"--graph {path}: number the pages from 0, without gaps")
        return cls(
            at.astype(np.float64),
            source.astype(np.int64),
            target.astype(np.int64),
            present.astype(bool),
            turns=turns,
            begins=begins,
        )

    @property
    def pages(self) -> int:
        """Number of pages in the whole log: n."""
        return len(self._links)

    @property
    def at(self) -> float:
        """The present instant, in the log's unit."""
        return self._now_at

    def named_at(self) -> Floats:
        """Return when the log first names each page, shape (n,); infinity if never."""
        first = np.full(self.pages, np.inf)
        for column in (self._source, self._target):
            np.minimum.at(first, column, self._at)
        return first

    def some_change(self, count: float) -> None:
        """Advance the time by that of the given number of visits."""
        self._now_at += count * self._each_s
        upto = int(np.searchsorted(self._at, self._now_at * (1 + 1e-12), side="right"))
        touched = self._step(upto)
        if touched:
            self.out = _with(self.out, touched, self._links)

    def now(self) -> Web:
        """Return the present graph."""
        return self._web_now(self.pages)

    def _step(self, upto: int) -> list[int]:
        """Apply the log up to an entry; return the pages whose links have changed."""
        entries = slice(self._entry, upto)
        touched = dict[int, None]()
        sources: list[int] = self._source[entries].tolist()
        targets: list[int] = self._target[entries].tolist()
        there: list[bool] = self._present[entries].tolist()
        for source, target, present in zip(sources, targets, there, strict=True):
            if present:
                self._links[source].add(target)
            else:
                self._links[source].discard(target)
            touched[source] = None
        self._entry = max(self._entry, upto)
        self.changed += len(touched)
        return list(touched)

    def _web_now(self, pages: int) -> Web:
        source = np.repeat(np.arange(pages), [len(links) for links in self._links])
        target = np.array([target for links in self._links for target in links], np.int64)
        return Web.of(pages, source, target)


def _with(rows: LinkRows, touched: list[int], links: list[set[int]]) -> LinkRows:
    """Return the rows with the present links of `touched` pages appended, without links to themselves."""
    fresh = [np.array(sorted(links[page] - {page}), np.int32) for page in touched]
    size = sum(map(len, fresh))
    if int(rows.end[0]) + size > len(rows.target):
        rows.make_room(size)
    at = int(rows.end[0])
    for page, row in zip(touched, fresh, strict=True):
        target: Spans = rows.target
        target[at : at + len(row)] = row
        rows.first[page], rows.count[page], rows.room[page] = at, len(row), len(row)
        at += len(row)
    rows.end[0] = at
    return rows
