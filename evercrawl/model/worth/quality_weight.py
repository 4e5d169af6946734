"""Quality weight: importance plus its growth relative to its level (Cho and Roy)."""

import contextlib
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from evercrawl.change.quality import estimate
from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.model.worth.weights import BEGIN, FLOOR, MEASURELESS, Total, Weight
from evercrawl.parse.digest import checksum
from evercrawl.schedule.pages import Pages
from evercrawl.store.disk.disk import Disk
from evercrawl.store.partition import Partition
from evercrawl.store.scheme import Scheme
from evercrawl.types import Floats, Slots

POPULARITY_FILE: Final = "popularity.bin"
SPAN: Final = 1 / 8
"""Between two looks at all importance, in parts of the crawl's age."""
LEAST_S: Final = 1.0
ATTENTION: Final = 0.1
"""D: what a page gains, in units of the mean page, whose importance grew over one span by as much as it has."""
_PIECE: Final = 1 << 16
_UNKNOWN: Final = (
    "how importance grows will be known once it was looked at twice; until then pages are worth their importance"
)


class Look(NamedTuple):
    """A snapshot of the importance of all pages at one instant: `pages` in units of the mean page, f4 by slot."""

    at: float
    pages: NDArray[np.float32]


class _Head(msgspec.Struct):
    """The file's header line: the importance scheme, and instant and number of pages of each snapshot."""

    scheme: Scheme | None  # None: written before this was noted
    looks: list[tuple[float, int]]


def quality(now: Floats, before: Floats, spans: float) -> Floats:
    """Return Q = D (dPop / dt) / Pop + Pop of pages, at least `FLOOR` of Pop, shape (n,).

    Parameters
    ----------
    now, before
        Popularity, in units of the mean page.
    spans
        Time between the two.

    Examples
    --------
    One that is liked by all who know it, and is known by ever more; one that has been forgotten; one that stands still:

    >>> quality(np.array([0.2, 1.0, 2.0]), np.array([0.1, 20.0, 2.0]), 1.0).round(3)
    array([0.25, 0.1 , 2.  ])

    References
    ----------
    Cho, Roy (2004). Impact of search engines on page popularity. Cho, Roy, Adams (2005). Page quality: in search of an
    unbiased web ranking, where PageRank stands for popularity and D for n over r v. The value of D here is ours.
    """
    return np.maximum(estimate(before, now, max(spans, 1e-12), 1.0 / ATTENTION), FLOOR * now)


class Quality(Weight):
    """The importance a page will have once everyone who would like it knows it.

    The crawl takes a snapshot of all importance each time its age has grown by an eighth, and keeps the last two in
    `popularity.bin`, 8 bytes a page; present importance is compared with the older one. A page found since has no
    measured growth, and is worth its importance. So is every page for a while after a change of the importance
    scheme: a difference between schemes is not growth.
    """

    def __init__(self, partition: Partition) -> None:
        self._state = partition.state
        self._disk = partition.disk
        self._looks = _read(partition.disk, partition.scheme)
        self._partition = partition
        self._plain: Callable[[Slots], Pages] | None = None
        self._total: Total | None = None

    @property
    def message(self) -> str:
        """Whether fewer than two snapshots exist."""
        return "" if len(self._looks) == 2 else _UNKNOWN

    def begin(self, plain: Callable[[Slots], Pages]) -> None:
        """Learn the importance of pages from `plain`."""
        self._plain, self._total = plain, Total(self._partition, plain)

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return the worth of pages, shape (n,)."""
        at, span_s = self._instant()
        if not self._looks or at >= self._looks[-1].at + span_s:
            self._look(at)
        before = self._looks[0]
        if before.at + 0.5 * span_s > at:
            return importance
        inside = (slots < len(before.pages)) & (importance < MEASURELESS)
        earlier = np.where(inside, before.pages[np.where(inside, slots, 0)], 0.0).astype(np.float64)
        mean = self._mean()
        now = np.where(inside, importance, 0.0) / mean
        return np.where(inside, mean * quality(now, earlier, (at - before.at) / span_s), importance)

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return importance `now` and `before`, in units of the mean page; empty for a new page."""
        at, span_s = self._instant()
        before = self._looks[0] if self._looks else None
        if before is None or before.at + 0.5 * span_s > at or slot >= len(before.pages) or importance >= MEASURELESS:
            return {}
        return {"now": importance / self._mean(), "before": float(before.pages[slot])}

    def _instant(self) -> tuple[float, float]:
        """Return the crawl's last instant, and the interval between snapshots then, in seconds."""
        at = max(self._state.last_at(), self._state.epoch)
        return at, max(SPAN * (at - self._state.epoch), LEAST_S)

    def _look(self, at: float) -> None:
        known, plain = self._state.known.count, self._plain
        assert plain is not None, BEGIN
        pieces = [
            plain(np.arange(first, min(first + _PIECE, known), dtype=np.uint32)).importance
            for first in range(0, known, _PIECE)
        ]
        pages = np.concatenate([*pieces, np.zeros(0)])
        pages[pages >= MEASURELESS] = 0.0
        self._looks = [*self._looks[-1:], Look(at, (pages / self._mean()).astype(np.float32))]
        _write(self._disk, self._partition.scheme, self._looks)

    def _mean(self) -> float:
        """Return the mean importance per page."""
        assert self._total is not None, BEGIN
        return self._total() / max(self._state.known.count, 1) or 1.0


def _write(disk: Disk, scheme: Scheme, looks: list[Look]) -> None:
    head = msgspec.json.encode(_Head(scheme, [(look.at, len(look.pages)) for look in looks]))
    body = b"".join(look.pages.astype("<f4").tobytes() for look in looks)
    with contextlib.suppress(StoreError):  # opened read-only, or the disk is full: a later snapshot follows
        disk.replace(POPULARITY_FILE, [head, b"\n", body, checksum(head + body).to_bytes(8, "little")])


def is_whole(disk: Disk) -> bool:
    """Return whether the snapshot file is complete."""
    line, _, rest = disk.read(POPULARITY_FILE, 0, disk.size(POPULARITY_FILE)).partition(b"\n")
    return checksum(line + rest[:-8]).to_bytes(8, "little") == rest[-8:]


def _read(disk: Disk, scheme: Scheme) -> list[Look]:
    """Return the stored snapshots; none if the file is damaged, missing or of another scheme."""
    with contextlib.suppress(StoreError, msgspec.MsgspecError, ValueError):
        data = disk.read(POPULARITY_FILE, 0, disk.size(POPULARITY_FILE))
        line, _, rest = data.partition(b"\n")
        body, told = rest[:-8], rest[-8:]
        if checksum(line + body).to_bytes(8, "little") == told and (head := _head(line)).scheme in (None, scheme):
            looks, at = list[Look](), 0
            for instant, count in head.looks:
                looks.append(Look(instant, np.frombuffer(body, "<f4", count, at)))
                at += 4 * count
            return looks
    return []


def _head(line: bytes) -> _Head:
    if line.startswith(b"["):  # the format before schemes were noted
        return _Head(None, json_of(line, list[tuple[float, int]]))
    return json_of(line, _Head)
