"""Which pages of a crawl have content to be read, and what has changed of them since an instant."""

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
    """Which pages are wanted.

    Attributes
    ----------
    since
        Only what appeared, changed or was lost after this instant, in seconds since the epoch; 0 for everything.
    site
        Only pages of this registrable domain or host; "" for all.
    pattern
        Only URLs in which this regular expression is found; "" for all.
    language
        Only pages in this language, a BCP 47 tag or the primary part of one; "" for all.

    Raises
    ------
    ConfigError
        The pattern is no regular expression.
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
        """Whether a page is wanted as far as its URL tells."""
        if self._found is not None and not self._found.search(url):
            return False
        return not self.site or self.site in (hostname(url), site(hostname(url)))

    def tag(self, language: str) -> bool:
        """Whether a page is wanted as far as its language tells."""
        wanted, has = self.language.lower().replace("_", "-"), language.lower().replace("_", "-")
        return not wanted or has == wanted or has.startswith(f"{wanted}-")


class Selected:
    """The pages that are wanted, in the order in which their content lies in the archive.

    Parameters
    ----------
    partition
        The crawl, opened for reading.
    wanted
        Which pages.

    Attributes
    ----------
    pointers
        Of the events that have the content, ascending.
    lost
        Slots of pages that had content before `since` and have none of their own any more.
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
        """Yield the visits that brought the content; None where an event is none of content."""
        for pointer in self.pointers.tolist():
            event = self._partition.journal.read(pointer)
            own = isinstance(event, Visit) and event.archive is not None and event.outcome in _OWN
            yield event if own and isinstance(event, Visit) else None

    def before(self, slot: int) -> Visit | None:
        """Return the visit that brought the content that a page had before `since`; None where it had none."""
        pointer = 0 if self._before is None else int(self._before[slot])
        event = self._partition.journal.read(pointer) if pointer else None
        return event if isinstance(event, Visit) else None


def _since(partition: Partition, since: float) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return by slot where the content of before an instant is, 0 where there was none, and whether new came after."""
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
