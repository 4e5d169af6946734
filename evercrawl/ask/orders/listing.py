"""The orders of a crawl with their results, and the state of its steering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evercrawl.config.secrets import concealed
from evercrawl.store.orders import (
    CrawlOrder,
    OrderFile,
    along_in_words,
    came_along,
    ends_with,
    lines_from,
    unread_in_words,
)
from evercrawl.store.steering import BEGUN

if TYPE_CHECKING:
    from evercrawl.store.journal.events import Boost
    from evercrawl.store.partition import Partition

MOST_BYTES: Final = 4 << 20
"""Size of the end of the file of orders that is read for the list."""


@dataclass(frozen=True, slots=True)
class ListedOrder:
    """One order: its id, when it was given (s since the epoch) and by whom, its content, and its result.

    `state` is "waits", "begun", "done" or "refused"; "done" without a result if that is no longer kept in memory.
    """

    id: str
    at: float
    by: str
    do: str
    what: str
    state: str
    result: str
    obeyed_at: float | None


@dataclass(frozen=True, slots=True)
class OrdersListed:
    """The last orders, oldest first; when the crawl was paused; the boosts; and the rules with their start.

    `trouble` is the reason why the file of orders, or some of its lines, are not read; "" if all is read.
    """

    orders: tuple[ListedOrder, ...]
    paused_at: float | None
    boosts: tuple[Boost, ...]
    rules: dict[str, float]
    trouble: str


def listed(crawl: Partition, most: int) -> OrdersListed:
    """Return the last `most` orders with their results, and the state of steering.

    Parameters
    ----------
    crawl
        The crawl, opened for reading.
    """
    source, steered = OrderFile(crawl.directory), crawl.state.steered
    orders = list(_orders(source, steered.upto, crawl))[-most:] if most else []
    trouble, upto = source.distrusted(), steered.upto if ends_with(source, steered.upto, steered.last) else 0
    if not trouble and (count := came_along(source, upto, steered.results)):
        trouble = along_in_words(count)
    start = max(source.size() - MOST_BYTES, 0)
    unread = unread_in_words(source, start, cut=start > 0) if not source.distrusted() else ""
    trouble = "; ".join(filter(None, (trouble, unread)))
    return OrdersListed(tuple(orders), steered.paused_at or None, tuple(steered.boosts), dict(steered.bounds), trouble)


def in_words(order: CrawlOrder) -> str:
    """Return the content of an order as text; passwords are hidden.

    Examples
    --------
    >>> in_words(CrawlOrder("exclude", pattern="/private/", lift=True))
    'lift /private/'
    >>> in_words(CrawlOrder("set", name="rate_per_s", values=("2",)))
    'rate_per_s = 2'
    >>> in_words(CrawlOrder("set", name="proxy", values=("http://me:secret@proxy.example/",)))
    'proxy = http://***@proxy.example/'
    """
    if order.name and order.lift:
        return f"unset {order.name}"
    if order.name:
        return concealed(f"{order.name} = {', '.join(order.values)}")
    times = f" x {order.factor:g}" if order.do == "boost" and not order.lift else ""
    what = order.pattern or " ".join(order.urls)
    return f"{'lift ' if order.lift else ''}{what}{times}"


def _orders(source: OrderFile, upto: int, crawl: Partition) -> Iterator[ListedOrder]:
    offset, results = max(source.size() - MOST_BYTES, 0), crawl.state.steered.results
    cut = offset > 0
    while True:
        last = offset
        for line in lines_from(source, offset):
            offset = line.upto
            order = line.order
            if order is None or cut:
                cut = False
                continue
            found = results.get(order.id)
            state = found.state if found is not None else "done" if line.upto <= upto else "waits"
            if state == BEGUN and order.id not in crawl.state.steered.checks:
                state = "done"
            result = found.result if found is not None else ""
            result = concealed(result) if order.name else result
            yield ListedOrder(
                order.id, order.at, order.by, order.do, in_words(order), state,
                result, found.at if found is not None else None,
            )  # fmt: skip
        if offset == last:
            return
