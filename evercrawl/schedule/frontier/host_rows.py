"""The columns of the hosts: a row for each that is known, 48 bytes, and more only of those that were located lately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve_together

if TYPE_CHECKING:
    from evercrawl.types import Ints

HOST: Final = np.dtype(
    [
        ("ready_at", "f8"),
        ("delay_s", "f8"),
        ("away_until", "f8"),
        ("address", "u8"),  # key of the address that its name leads to, 0 before that is known
        ("in_flight", "i2"),
        ("held", "u2"),  # what it is held for: place in `words`
        ("pages", "u4"),
        ("failures", "u2"),
        ("reason", "u2"),  # why it rests: likewise
        ("answers", "u1"),
    ],
    align=True,
)
"""What is kept of a host that is known; `Host` says what the columns are."""

LOCATED_MOST: Final = 1 << 12  # hosts whose addresses are kept, beside as many older ones and those that are busy
_NOWHERE: Final = tuple[str, ...](), -1e18


class HostRows:
    """The rows of all hosts.

    Parameters
    ----------
    names
        Host names by number, if somebody keeps them; else they are kept here.
    capacity
        Hosts that there is room for; memory is used as it is needed.

    Attributes
    ----------
    names
        By number.
    rows
        By number; `ready_at`, `delay_s` and so on are the same memory, column by column, quick to look at one by one.
    words
        What hosts are held for and why they rest. The first stands for neither, or for resting.
    """

    def __init__(self, names: Sequence[str] | None = None, capacity: int = 1 << 27) -> None:
        small = capacity < 1 << 10
        self.rows: NDArray[Any] = (
            np.zeros(capacity, HOST) if small else reserve_together([HOST], capacity, large_pages=True)[0]
        )
        self._own: list[str] = []
        self.names: Sequence[str] = self._own if names is None else names
        self.ready_at: memoryview[float] = cast("memoryview[float]", self.rows["ready_at"].data)
        self.delay_s: memoryview[float] = cast("memoryview[float]", self.rows["delay_s"].data)
        self.away_until: memoryview[float] = cast("memoryview[float]", self.rows["away_until"].data)
        self.address: memoryview[int] = self.rows["address"].data
        self.pages: memoryview[int] = self.rows["pages"].data
        self.in_flight: memoryview[int] = self.rows["in_flight"].data
        self.failures: memoryview[int] = self.rows["failures"].data
        self.held: memoryview[int] = self.rows["held"].data
        self.reason: memoryview[int] = self.rows["reason"].data
        self.answers: memoryview[int] = self.rows["answers"].data
        self.words = [""]
        self.count = 0
        self._codes = {"": 0, "resting": 0}
        self._located: dict[int, tuple[tuple[str, ...], float]] = {}
        self._older: dict[int, tuple[tuple[str, ...], float]] = {}

    def add(self, names: Sequence[str], delay_s: float, ready_at: float, pages: Ints | None = None) -> None:
        """Add hosts with the next numbers."""
        part = self.rows[self.count : self.count + len(names)]
        assert len(part) == len(names), "more hosts than address space"
        part["delay_s"], part["ready_at"] = delay_s, ready_at
        if pages is not None:
            part["pages"] = pages
        if self.names is self._own:
            self._own += names
        self.count += len(names)

    def code(self, word: str) -> int:
        """Return the place of a word in `words`."""
        place = self._codes.get(word)
        if place is None:
            place = self._codes[word] = len(self.words)
            self.words.append(word)
        return place

    def located(self, number: int) -> tuple[tuple[str, ...], float]:
        """Return the addresses of a host, and until when they hold; none where it was located long ago."""
        return self._located.get(number) or self._older.get(number, _NOWHERE)

    def locate(self, number: int, addresses: tuple[str, ...], until: float) -> None:
        """Keep the addresses of a host, and until when they hold."""
        if len(self._located) >= LOCATED_MOST and number not in self._located:
            busy = {
                host: found for host, found in self._older.items() if self.in_flight[host] > 0 or self.held[host] > 0
            }
            self._older, self._located = busy | self._located, {}
        self._located[number] = addresses, until
