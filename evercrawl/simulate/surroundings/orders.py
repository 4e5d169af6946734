"""People who give orders to a crawl in a made-up world: on its disk, as another process beside it."""

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
    """The file of orders on a virtual disk, and whoever writes to it.

    Parameters
    ----------
    disk
        The crawl's.
    seeds
        That are named again.
    """

    def __init__(self, disk: VirtualDisk, seeds: tuple[str, ...]) -> None:
        self._disk, self._seeds = disk.beside(), seeds

    def distrusted(self) -> str:
        """Return "": nobody else is there."""
        return ""

    def size(self) -> int:
        """Return how many bytes there are."""
        return self._disk.size(FILE)

    def read(self, offset: int, size: int) -> bytes:
        """Return up to so many bytes from an offset on."""
        return self._disk.read(FILE, offset, size)

    def give(self, kind: str, at: float) -> str:
        """Write an order down and return its id; "" where there is no room."""
        order = CrawlOrder("seed", urls=self._seeds) if kind == "seed" else _KINDS[kind]
        name = f"{self.size():06x}"
        one = msgspec.structs.replace(order, id=name, at=at, by="somebody")
        try:
            self._disk.append(FILE, line_of(one))
        except NoRoomError:
            return ""
        self._disk.sync(FILE)
        return name
