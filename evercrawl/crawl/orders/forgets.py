"""Orders to forget, obeyed between two runs of a crawl: the crawl stops for them and resumes by itself.

Forgetting overwrites files that a running crawl writes and holds in memory. So the crawl ends what is under way,
closes its directory, and opens it again afterwards. Until an order is carried out, it is the next one in the file of
orders. Its own words are masked together with the first byte that is overwritten. A kill in between therefore neither
loses nor repeats an order.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from evercrawl.clock import SystemClock
from evercrawl.crawl.removing.forgetting import Forgot, forget, opened_to_forget
from evercrawl.errors import ConfigError, NoRoomError, StoreError
from evercrawl.store import forgetting
from evercrawl.store.journal.events import Obeyed
from evercrawl.store.orders import FORGET, CrawlOrder, OrderFile, OrderLine, ends_with, is_masked, lines_from
from evercrawl.store.partition import Partition

MOST: Final = 1000
"""The highest number of URLs, hosts and expressions in one order."""
_AGAIN: Final = "it was forgotten before the crawl was interrupted"


def obey_forgets(directory: Path, tell: Callable[[str], None] = lambda _: None) -> int:
    """Carry out the orders to forget that come next in the file, and journal each; return their number.

    Parameters
    ----------
    directory
        The directory of a crawl that does not run.
    tell
        Called with a sentence about each step.

    Raises
    ------
    StoreError
        The directory is damaged or in use, or the disk fails; the order is carried out at the next start.
    """
    count = 0
    while True:
        partition = opened_to_forget(directory)
        try:
            line = _next(partition)
            if line is None or line.order is None:
                return count
            if is_masked(line.order):
                _note(partition, line, line.order, "done", _AGAIN)
                count += 1
                continue
        finally:
            partition.close()
        tell("the crawl pauses to forget what an order names, and resumes afterwards")
        state, result = _obeyed(directory, line.order)
        partition = opened_to_forget(directory)
        try:
            _note(partition, line, line.order, state, result)
        finally:
            partition.close()
        tell(f"{state}: {result}")
        count += 1


def _next(partition: Partition) -> OrderLine | None:
    """Return the next order in the file, if it is one to forget."""
    source, steered = OrderFile(partition.directory), partition.state.steered
    if source.distrusted():
        return None
    since = source.given_since()
    offset = steered.upto if ends_with(source, steered.upto, steered.last) else 0
    while True:
        last = offset
        for line in lines_from(source, offset):
            offset = line.upto
            order = line.order
            if order is not None and order.id in steered.results:
                continue
            if order is not None or line.trouble:
                known = order is not None and order.do == FORGET and line.upto > since
                return line if known else None
        if offset == last:
            return None


def _obeyed(directory: Path, order: CrawlOrder) -> tuple[str, str]:
    """Carry out an order; return its state and a sentence that names nothing forgotten."""
    if not 1 <= len(order.urls) <= MOST:
        return "refused", f"an order to forget names from 1 to {MOST} URLs, hosts or expressions"
    try:
        return "done", _told(forget(directory, order.urls, order=order.id))
    except NoRoomError:
        raise
    except ConfigError as error:
        return "refused", str(error)
    except StoreError as error:
        if forgetting.begun(directory):
            raise
        return "refused", str(error)


def _told(forgot: Forgot) -> str:
    done = (
        f"forgot {_many(forgot.pages, 'page')} and {_many(forgot.hosts, 'host')}; "
        f"{_many(forgot.records, 'record')} of the archive ({_many(forgot.archive_bytes, 'byte')}) "
        f"{'was' if forgot.records == 1 else 'were'} overwritten"
    )
    return f"{done}; not reached: {'; '.join(forgot.beyond)}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _note(partition: Partition, line: OrderLine, order: CrawlOrder, state: str, result: str) -> None:
    partition.remember(Obeyed(order.id, SystemClock().now(), line.upto, FORGET, state, result, by=order.by))
    partition.flush()
    partition.journal.write(partition.journal.seal())
