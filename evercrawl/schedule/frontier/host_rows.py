"""The columns of the hosts: a row of 48 bytes per known host, and more for recently located hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve_together, too_many
from evercrawl.errors import CeilingError

if TYPE_CHECKING:
    from evercrawl.types import Ints

HOST: Final = np.dtype(
    [
        ("ready_at", "f8"),
        ("delay_s", "f8"),
        ("away_until", "f8"),
        ("address", "u8"),  # key of the address that the name resolves to; 0 if unknown
        ("in_flight", "i2"),
        ("held", "u2"),  # why it is held: index into `words`
        ("pages", "u4"),
        ("failures", "u2"),
        ("reason", "u2"),  # why it rests: index into `words`
        ("answers", "u1"),
        ("named", "u1"),  # whether a seed names it
    ],
    align=True,
)
"""The stored columns of a known host; `Host` documents them."""

LOCATED_MOST: Final = 1 << 12  # maximum number of hosts with stored addresses, plus as many older and all busy ones
_NOWHERE: Final = tuple[str, ...](), -1e18


class HostRows:
    """The rows of all hosts.

    Parameters
    ----------
    names
        Host names by number, if the caller stores them; otherwise they are stored here.
    capacity
        Capacity in hosts; memory is used as needed.

    Attributes
    ----------
    names
        Names by number.
    rows
        Rows by number; `ready_at`, `delay_s` and so on are views of its columns, for fast access to single values.
    words
        Reasons why hosts are held or rest. The first stands for "not held", or for plain resting.
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
        self.named: memoryview[int] = self.rows["named"].data
        self.words = [""]
        self.count = 0
        self._codes = {"": 0, "resting": 0}
        self._located: dict[int, tuple[tuple[str, ...], float]] = {}
        self._older: dict[int, tuple[tuple[str, ...], float]] = {}

    def add(self, names: Sequence[str], delay_s: float, ready_at: float, pages: Ints | None = None) -> None:
        """Add hosts with the next numbers.

        Raises
        ------
        CeilingError
            There are as many as address space was reserved for.
        """
        part = self.rows[self.count : self.count + len(names)]
        if len(part) < len(names):
            raise CeilingError(too_many("hosts", len(self.rows)))
        part["delay_s"], part["ready_at"] = delay_s, ready_at
        if pages is not None:
            part["pages"] = pages
        if self.names is self._own:
            self._own += names
        self.count += len(names)

    def code(self, word: str) -> int:
        """Return the index of a word in `words`."""
        place = self._codes.get(word)
        if place is None:
            place = self._codes[word] = len(self.words)
            self.words.append(word)
        return place

    def located(self, number: int) -> tuple[tuple[str, ...], float]:
        """Return the addresses of a host and their expiry; none if it was located long ago."""
        return self._located.get(number) or self._older.get(number, _NOWHERE)

    def locate(self, number: int, addresses: tuple[str, ...], until: float) -> None:
        """Store the addresses of a host and their expiry."""
        if len(self._located) >= LOCATED_MOST and number not in self._located:
            busy = {
                host: found for host, found in self._older.items() if self.in_flight[host] > 0 or self.held[host] > 0
            }
            self._older, self._located = busy | self._located, {}
        self._located[number] = addresses, until
