"""Memory use by item: of the running or the last crawl, and of this process, which has opened the state."""

from dataclasses import dataclass
from pathlib import Path

from evercrawl.model.footprint import Footprint, MemoryItem, UnitFootprint, kept_footprint, resident_bytes, units
from evercrawl.model.rates import priors_of
from evercrawl.model.state_items import state_items
from evercrawl.model.stored.reader import opened
from evercrawl.store.disk.lock import holder


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The memory of a crawl.

    Attributes
    ----------
    crawl
        The last report of the running crawl, or that of the last crawl at its end; None if none was ever written.
    running_bytes
        Resident memory of the crawl's process now, according to the system; None if none runs on this machine.
    opened
        Items of the state, as this process opened it from the directory.
    opened_bytes
        Growth of this process's resident memory when it opened the state.
    """

    crawl: Footprint | None
    running_bytes: int | None
    opened: tuple[MemoryItem, ...]
    opened_bytes: int

    @property
    def units(self) -> tuple[UnitFootprint, ...]:
        """Memory per URL, page, host and folder: in the crawl, if known, otherwise in the opened state."""
        return units(self.crawl.items if self.crawl is not None else self.opened)


def memory(directory: Path) -> MemoryReport:
    """Return the memory report of a crawl.

    Raises
    ------
    ConfigError
        There is no crawl in `directory`.
    StoreError
        It is damaged.
    """
    before = resident_bytes() or 0
    crawl = opened(directory)
    try:
        items = tuple(state_items(crawl.state, priors_of(crawl.state)))
        took = (resident_bytes() or 0) - before
    finally:
        crawl.close()
    footprint, who = kept_footprint(directory), holder(directory)
    runs = footprint is not None and who is not None and who.get("pid") == footprint.pid
    return MemoryReport(footprint, resident_bytes(footprint.pid) if runs and footprint else None, items, took)
