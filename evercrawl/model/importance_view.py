"""State and importance of a crawl at one instant: the common base of most queries."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from evercrawl.config import FILE_NAME, Config, load
from evercrawl.errors import ConfigError
from evercrawl.model.columns import Columns, counts_bytes
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.policy.schemes import scheme_of
from evercrawl.model.rates import priors_of
from evercrawl.store.partition import Partition
from evercrawl.types import NO_SLOT, Floats, Slots

PIECE: Final = 1 << 16  # pages gathered in one batch: small enough for the processor's cache
_SPARE: Final = 16  # of as many pages there is room for one more


class ImportanceView:
    """A read-only view of pages and their importance, by slot.

    It has no policy, so queries that need none do not load one, which saves half of the modules at start-up. `View`
    adds the policy.

    Parameters
    ----------
    partition
        The crawl; one opened for reading.
    config
        Its settings.
    now
        The instant of the view, in seconds since the epoch; the last event's instant if that is later.

    Attributes
    ----------
    scheme
        The crawl's importance scheme.
    columns
        Slots -> `Pages`.
    """

    def __init__(self, partition: Partition, config: Config, now: float) -> None:
        self.partition = partition
        self.state = partition.state
        self.config = config
        self.now = max(now, partition.state.last_at())  # the machine's clock may be behind the crawl's
        self.scheme = scheme_of(partition.scheme, partition.state)
        self.priors = priors_of(self.state)
        self.in_bytes = counts_bytes(config)
        self._gathered = (self.state, self.scheme, self.priors, AnnouncedDates(self.state.accounts))
        self.columns = Columns(*self._gathered, in_bytes=self.in_bytes, newcomers=config.newcomers)
        self._total: float | None = None
        self._shares: Floats = np.empty(0)  # total importance, with room for pages found later
        self._measured = 0  # of them

    @property
    def importance(self) -> Floats:
        """The importance of every known page, shape (known,), 0 for aliases; sums to 1.

        If the state follows a running crawl, pages found after the first access are added on top with the importance
        they have when first accessed.
        """
        total = self.total
        count, there = self.state.known.count, self._measured
        if there < count:
            room = self._shares
            if count > len(room):
                room = np.empty(count + count // _SPARE)
                room[:there] = self._shares[:there]
            for slots in self.pieces(there):
                room[slots] = self.columns(slots).importance / total
            self._shares, self._measured = room, count
        return self._shares[:count]

    @property
    def total(self) -> float:
        """Total importance in the scheme's own units; 1 before there is any."""
        if self._total is None:
            raw = np.zeros(self.state.known.count)
            for slots in self.pieces():
                raw[slots] = self.columns(slots).importance
            raw[self._aliases] = 0.0
            total = float(raw.sum()) or 1.0
            raw /= total
            self._shares, self._measured, self._total = raw, len(raw), total
        return self._total

    @cached_property
    def counted(self) -> int:
        """Number of pages that share importance: all known pages except aliases."""
        return self.state.known.count - len(self._aliases)

    @property
    def _aliases(self) -> Slots:
        """Return the slots of aliases: pages that only lead to another."""
        rows = self.state.records.rows[: self.state.records.count]
        slots: Slots = rows["slot"][rows["alias"] != NO_SLOT]
        return slots

    def pieces(self, first: int = 0) -> Iterator[Slots]:
        """Yield the slots of all known pages from `first` on, in batches."""
        count = self.state.known.count
        for start in range(first, count, PIECE):
            yield np.arange(start, min(start + PIECE, count), dtype=np.uint32)


def written(directory: Path) -> Config:
    """Return the settings in a crawl's file, whichever policy it follows; the defaults if it cannot be read."""
    try:
        return load(file) if (file := directory / FILE_NAME).is_file() else Config()
    except (ConfigError, OSError):
        return Config()
