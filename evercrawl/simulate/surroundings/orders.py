"""Orders given to a crawl in a simulated world, written to its disk as if by another process."""

from typing import Final

import msgspec

from evercrawl.errors import NoRoomError
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.store.orders import FILE, CrawlOrder, line_of

_KINDS: Final = {
    "pause": CrawlOrder("pause"),
    "resume": CrawlOrder("resume"),
    "boost": CrawlOrder("boost", pattern="1", factor=20.0, lasts_s=500.0),
    "unboost": CrawlOrder("boost", pattern="1", lift=True),
    "exclude": CrawlOrder("exclude", pattern="/never/"),
    "lift": CrawlOrder("exclude", pattern="/never/", lift=True),
    "nonsense": CrawlOrder("fly"),
}


class MadeOrders:
    """The file of orders on a virtual disk, and its writer.

    Parameters
    ----------
    disk
        The crawl's disk.
    seeds
        Seeds that are added again.
    """

    def __init__(self, disk: VirtualDisk, seeds: tuple[str, ...]) -> None:
        self._disk, self._seeds = disk.beside(), seeds

    def distrusted(self) -> str:
        """Return "": there are no other users."""
        return ""

    def given_since(self) -> int:
        """Return 0: all are given here."""
        return 0

    def size(self) -> int:
        """Return the size of the file in bytes."""
        return self._disk.size(FILE)

    def read(self, offset: int, size: int) -> bytes:
        """Return up to the given number of bytes from an offset."""
        return self._disk.read(FILE, offset, size)

    def give(self, kind: str, at: float) -> str:
        """Write an order and return its id; "" if the disk is full."""
        order = CrawlOrder("seed", urls=self._seeds) if kind == "seed" else _KINDS[kind]
        name = f"{self.size():06x}"
        one = msgspec.structs.replace(order, id=name, at=at, by="somebody")
        try:
            self._disk.append(FILE, line_of(one))
        except NoRoomError:
            return ""
        self._disk.sync(FILE)
        return name
