"""A crawl as three tables (pages, links and visits), yielded in pieces so that memory use stays small."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import compress
from math import isfinite
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from evercrawl.change.gamma import rate
from evercrawl.clock import SystemClock
from evercrawl.model.stored.answers import HTML, answer_of, exchange_of, is_html
from evercrawl.model.stored.reader import events
from evercrawl.model.view import View, settings
from evercrawl.parse import html
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname
from evercrawl.schedule.abilities import Priced
from evercrawl.store.forgotten import is_nowhere
from evercrawl.store.journal.events import CHANGED, TLS_BAD, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.post.book import PostBook
from evercrawl.store.state import State
from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import NO_SLOT, Floats, Outcome

ROWS: Final = 1 << 16  # of a piece, at most or slightly more

Columns: TypeAlias = dict[str, list[Any]]
Watch: TypeAlias = "Callable[[int, int], None]"

TABLES: Final[dict[str, dict[str, str]]] = {
    "pages": {
        "url": "string", "class": "string", "status": "int", "title": "string", "size_bytes": "int", "tls_ok": "bool",
        "found_at": "instant", "visited_at": "instant", "changes": "int", "visits": "int", "importance": "float",
        "rate_per_s": "float", "fresh": "float", "due_at": "instant", "copy_of": "string",
    },
    "links": {"source": "string", "target": "string", "rel": "string", "internal": "bool", "anchor": "string"},
    "visits": {
        "url": "string", "at": "instant", "interval_s": "float", "class": "string", "status": "int", "changed": "bool",
        "size_bytes": "int", "fetch_s": "float",
    },
}  # fmt: skip
"""Columns of each table and their types; an instant is in seconds since the epoch, or null for never."""

_BELIEFS: Final = ("importance", "rate_per_s", "fresh", "due_at")
_LABELS: Final[dict[int, str]] = {outcome.value: outcome.label for outcome in Outcome}
_HELD: Final = (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE)
_TLS_OK, _TLS_WRONG = 1, 2


def table(
    partition: Partition, name: str, watch: Watch = lambda done, total: None, now: float | None = None
) -> Iterator[Columns]:
    """Yield a table piece by piece, each as column name -> values of equal length.

    Parameters
    ----------
    partition
        The crawl, just opened for reading.
    name
        One of `TABLES`.
    watch
        Progress callback: amount done, and total.
    now
        Instant for which `fresh` is computed, in seconds since the epoch; by default the current time.

    Raises
    ------
    StoreError
        The archive or the journal is damaged.
    """
    if name == "pages":
        pieces = _pages(partition, watch, SystemClock().now() if now is None else now)
    else:
        pieces = {"links": _links, "visits": _visits}[name](partition, watch)
    if partition.state.post is not None and name == "pages":
        pieces = map(partial(_owned, partition.state.post), pieces)
    return map(partial(_remembered, partition.state), pieces) if partition.state.forgotten else pieces


def _owned(post: PostBook, piece: Columns) -> Columns:
    """Return the rows of pages that this partition owns."""
    own = post.ownership
    kept = [own.of(hostname(url)) == own.number for url in piece["url"]]
    return {name: list(compress(values, kept)) for name, values in piece.items()}


def _remembered(state: State, piece: Columns) -> Columns:
    """Return the rows without forgotten pages."""
    columns = [piece[name] for name in ("url", "source", "target", "copy_of") if name in piece]
    gone, hasher = state.forgotten.has_url, state.hasher
    kept = [
        not any(url and (is_nowhere(url) or gone(hasher, url, hostname(url))) for url in urls)
        for urls in zip(*columns, strict=True)
    ]
    return {name: list(compress(values, kept)) for name, values in piece.items()}


def _pages(partition: Partition, watch: Watch, now: float) -> Iterator[Columns]:
    """Yield one row per known URL, in order of discovery."""
    state = partition.state
    count = state.known.count
    trust = _trust(partition)
    view = View(partition, settings(partition.directory)[0], now)
    for start in range(0, count, ROWS):
        watch(start, count)
        stop = min(start + ROWS, count)
        cells = state.table.record[start:stop].tolist()
        found = state.known.rows(start, stop)["found"].tolist()
        piece: Columns = {column: [] for column in TABLES["pages"] if column not in _BELIEFS}
        add = [piece[column].append for column in piece]
        for slot, cell, ticks in zip(range(start, stop), cells, found, strict=True):
            url = state.urls.get(slot)
            page = _page(partition, cell, url, int(trust[slot]))
            row = (
                url, page.label, page.status, page.title, page.size_bytes, page.tls_ok,
                state.epoch + ticks / TICKS_PER_S, page.visited_at, page.changes, page.visits,
                _url(state, page.copy_of),
            )  # fmt: skip
            for put, value in zip(add, row, strict=True):
                put(value)
        yield piece | _beliefs(view, start, stop)
    watch(count, count)


def _beliefs(view: View, start: int, stop: int) -> Columns:
    """Return the estimates of the pages from slot `start` to `stop`: importance, rate, freshness and due time."""
    slots = np.arange(start, stop, dtype=np.uint32)
    pages = view.columns(slots)
    rates = np.where(np.isnan(pages.visited_at), np.nan, rate(pages.shape, pages.scale_s))
    same = isinstance(view.policy, Priced) and not view.config.focus and not view.candidates.weighed
    missed = bool((view.records(slots)[1]["misses"] > 0).any())  # for due times, gone pages may count as usual
    asked = pages if same and not missed else view.candidates(slots)
    due_at = view.due_at(asked)  # first, because it may inform the policy, and all pages must use the same estimates
    beliefs = view.importance[slots], rates, view.fresh(pages), due_at
    return {name: _nullable(values) for name, values in zip(_BELIEFS, beliefs, strict=True)}


def _nullable(values: Floats) -> list[Any]:
    """Return numbers, with None for nan and infinity."""
    return [value if isfinite(value) else None for value in values.tolist()]


class _FetchedPage(NamedTuple):
    """Columns of a page that come from its visits; empty for a page without visits."""

    label: str | None = None
    status: int | None = None
    title: str | None = None
    size_bytes: int | None = None
    tls_ok: bool | None = None
    visited_at: float | None = None
    changes: int = 0
    visits: int = 0
    copy_of: int = NO_SLOT


def _page(partition: Partition, cell: int, url: str, trust: int) -> _FetchedPage:
    if cell & NO_RECORD:
        return _FetchedPage()
    record = partition.state.records.read(cell)
    title, copied, size = None, NO_SLOT, record.size_bytes
    if record.event and record.outcome in _HELD:
        event = partition.journal.read(record.event)
        assert isinstance(event, Visit), "a record points to a visit"
        title, copied = event.title, event.alias if record.outcome == Outcome.DUPLICATE else event.near
        size = event.size_bytes if record.status == 304 else size
    return _FetchedPage(
        _LABELS.get(record.outcome), record.status, title, size,
        None if not trust or not url.startswith("https:") else trust == _TLS_OK,
        partition.state.epoch + record.visited / TICKS_PER_S, record.changes, record.visits, copied,
    )  # fmt: skip


def _url(state: State, slot: int) -> str | None:
    return state.urls.get(slot) if slot != NO_SLOT else None


def _trust(partition: Partition) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return for each slot whether its certificate verified at the last visit; 0 if that was not recorded."""
    trust = np.zeros(partition.state.known.count, np.uint8)
    for _, _, event in events(partition, partition.journal.sequence):
        if isinstance(event, Visit) and (event.status or event.flags & TLS_BAD):
            trust[event.slot] = _TLS_WRONG if event.flags & TLS_BAD else _TLS_OK
    return trust


def _links(partition: Partition, watch: Watch) -> Iterator[Columns]:
    """Yield one row per link of each page held, in the order in which the pages were stored."""
    state = partition.state
    rows = state.records.rows[: state.records.count]
    held = rows["event"][np.isin(rows["outcome"], _HELD) & (rows["event"] != 0)]
    piece: Columns = {column: [] for column in TABLES["links"]}
    for done, pointer in enumerate(np.sort(held).tolist()):
        event = partition.journal.read(pointer)
        if isinstance(event, Visit) and event.archive is not None and event.mime in (*HTML, ""):
            _add_links(partition, event, piece)
        if len(piece["source"]) >= ROWS:
            watch(done, len(held))
            yield piece
            piece = {column: [] for column in piece}
    if piece["source"]:
        yield piece
    watch(len(held), len(held))


def _add_links(partition: Partition, event: Visit, piece: Columns) -> None:
    held = exchange_of(event, answer_of(partition, event))
    if not is_html(event.mime, held.body):
        return
    source = partition.state.urls.get(event.slot)
    home = site(hostname(source))
    for link in html.links(held.body, source, held.headers.get("content-type", "")):
        piece["source"].append(source)
        piece["target"].append(link.target)
        piece["rel"].append(link.rel)
        piece["internal"].append(site(hostname(link.target)) == home)
        piece["anchor"].append(link.anchor)


def _visits(partition: Partition, watch: Watch) -> Iterator[Columns]:
    """Yield one row per visit, in journal order."""
    piece: Columns = {column: [] for column in TABLES["visits"]}
    upto = partition.journal.sequence
    for _, number, event in events(partition, upto):
        if isinstance(event, Visit):
            row = (
                partition.state.urls.get(event.slot), event.at, event.interval_s, _LABELS.get(event.outcome),
                event.status, bool(event.flags & CHANGED), event.size_bytes, event.fetch_s,
            )  # fmt: skip
            for column, value in zip(piece.values(), row, strict=True):
                column.append(value)
        if len(piece["url"]) >= ROWS:
            watch(number, upto)
            yield piece
            piece = {column: [] for column in piece}
    if piece["url"]:
        yield piece
    watch(upto, upto)
