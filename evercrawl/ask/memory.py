"""What takes how much memory: in a running crawl, or the last one, and in this process, which has opened the state."""

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
        What the crawl under way wrote of itself last, or the last crawl at its end; None where none ever did.
    running_bytes
        Resident memory of the crawl's process now, by the system; None where none runs on this machine.
    opened
        Items of the state, as this process has opened it from the directory.
    opened_bytes
        By how much the resident memory of this process grew by that.
    """

    crawl: Footprint | None
    running_bytes: int | None
    opened: tuple[MemoryItem, ...]
    opened_bytes: int

    @property
    def units(self) -> tuple[UnitFootprint, ...]:
        """What a URL, a page, a host and a folder take: in the crawl, if that is known, or else in the opened state."""
        return units(self.crawl.items if self.crawl is not None else self.opened)


def memory(directory: Path) -> MemoryReport:
    """Return what takes how much memory.

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
