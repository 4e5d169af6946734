"""Selection of pages with content, and of those that changed since an instant."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.config.patterns import UrlPattern
from evercrawl.errors import ConfigError
from evercrawl.model.stored.reader import events
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname
from evercrawl.store.journal.events import UNCHANGED, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.types import Outcome, Slots

_HELD: Final = (Outcome.OK, Outcome.TRUNCATED, Outcome.ERROR, Outcome.REFUSED)
_LOST: Final = (Outcome.GONE, Outcome.REDIRECT, Outcome.DUPLICATE)
_OWN: Final = (Outcome.OK, Outcome.TRUNCATED)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A selection of pages.

    Attributes
    ----------
    since
        Only pages that appeared, changed or were lost after this instant, in seconds since the epoch; 0 for all.
    site
        Only pages of this registrable domain or host; "" for all.
    pattern
        Only URLs that match this regular expression; "" for all.
    language
        Only pages in this language, given as a BCP 47 tag or its primary subtag; "" for all.

    Raises
    ------
    ConfigError
        The pattern is not a regular expression.
    """

    since: float = 0.0
    site: str = ""
    pattern: str = ""
    language: str = ""
    _found: UrlPattern | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "_found", UrlPattern(self.pattern) if self.pattern else None)
        except re.error as error:
            raise ConfigError(f"--pattern {self.pattern!r} is not a regular expression: {error}") from error

    def url(self, url: str) -> bool:
        """Return whether the selection includes a page's URL."""
        if self._found is not None and not self._found.search(url):
            return False
        return not self.site or self.site in (hostname(url), site(hostname(url)))

    def tag(self, language: str) -> bool:
        """Return whether the selection includes a page's language."""
        wanted, has = self.language.lower().replace("_", "-"), language.lower().replace("_", "-")
        return not wanted or has == wanted or has.startswith(f"{wanted}-")


class Selected:
    """The selected pages, in the order of their content in the archive.

    Parameters
    ----------
    partition
        The crawl, opened for reading.
    wanted
        The selection.

    Attributes
    ----------
    pointers
        Pointers of the journal events with the content, ascending.
    lost
        Slots of pages that had content before `since` and no longer have any of their own.
    """

    def __init__(self, partition: Partition, wanted: Wanted) -> None:
        self._partition = partition
        rows: Any = partition.state.records.rows[: partition.state.records.count]
        held = np.isin(rows["outcome"], [int(one) for one in _HELD]) & (rows["event"] != 0)
        self.lost: Slots = np.zeros(0, np.uint32)
        self._before: NDArray[np.uint64] | None = None
        if wanted.since:
            self._before, changed = _since(partition, wanted.since)
            held &= changed[rows["slot"]]
            ticks = max(wanted.since - partition.state.epoch, 0.0) * TICKS_PER_S
            gone = np.isin(rows["outcome"], [int(one) for one in _LOST]) & (rows["visited"] >= int(ticks))
            self.lost = rows["slot"][gone & (self._before[rows["slot"]] != 0)]
        self.pointers: NDArray[np.uint64] = np.sort(rows["event"][held])

    def pages(self) -> Iterator[Visit | None]:
        """Yield the visits that brought the content; None for an event without content."""
        for pointer in self.pointers.tolist():
            event = self._partition.journal.read(pointer)
            own = isinstance(event, Visit) and event.archive is not None and event.outcome in _OWN
            yield event if own and isinstance(event, Visit) else None

    def before(self, slot: int) -> Visit | None:
        """Return the visit that brought a page's content of before `since`; None if it had none."""
        pointer = 0 if self._before is None else int(self._before[slot])
        event = self._partition.journal.read(pointer) if pointer else None
        return event if isinstance(event, Visit) else None


def _since(partition: Partition, since: float) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return for each slot the pointer of its content before an instant (0: none), and whether new content followed."""
    known = partition.state.known.count
    before, changed = np.zeros(known, np.uint64), np.zeros(known, np.bool_)
    for pointer, _, event in events(partition, partition.journal.sequence):
        if isinstance(event, Visit) and event.archive is not None and event.outcome in _OWN:
            if event.flags & UNCHANGED:
                continue
            if event.at < since:
                before[event.slot] = pointer
            else:
                changed[event.slot] = True
    return before, changed
