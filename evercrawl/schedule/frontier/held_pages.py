"""Pages that wait behind the other pages of their hosts: each host offers few of them while others wait there.

The frontier holds such pages outside the queues and releases them one by one, so the cost of a choice does not grow
with their number, and the rule holds for every policy.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve

if TYPE_CHECKING:
    from evercrawl.types import Slots

EVERY: Final = 20
"""Number of a host's turns of which one goes to a held page."""
_TURNS, _NEXT, _HEAD = range(3)  # of a host's array: turns since the last release, next site or later; then pages
_EACH: Final = 64 + 120  # approximate bytes of a host's array object and of its entry


class HeldPages:
    """The held pages by host, with the sites that name them. Sites take turns, each with its pages in order.

    Attributes
    ----------
    count
        Number of held pages.

    Examples
    --------
    Site 9 names three pages, and site 4 one:

    >>> held = HeldPages()
    >>> for slot, site in ((1, 9), (2, 9), (3, 9), (4, 4)):
    ...     held.hold(7, slot, site)
    >>> held.release(7), held.release(7), held.remove(7, 3), held.release(7), held.release(7)
    (1, 4, True, 2, None)
    """

    def __init__(self) -> None:
        self._of: dict[int, array[int]] = {}
        self._marks: NDArray[np.bool_] = reserve(np.bool_, 1 << 32)  # by slot
        self._most = 0  # slots marked so far lie below
        self.count = 0

    def __contains__(self, host: int) -> bool:
        """Whether pages of a host are held."""
        return host in self._of

    def __bool__(self) -> bool:
        """Whether pages of any host are held."""
        return bool(self._of)

    def of(self, host: int) -> int:
        """Return the number of held pages of a host."""
        held = self._of.get(host)
        return (len(held) - _HEAD) // 2 if held is not None else 0

    def hosts(self) -> list[int]:
        """Return the hosts with held pages."""
        return list(self._of)

    def among(self, slots: Slots) -> list[int]:
        """Return those of some slots whose pages are held."""
        return slots[self._marks[slots]].tolist() if self._of else []

    def hold(self, host: int, slot: int, site: int) -> None:
        """Hold a page that pages of a site name."""
        held = self._of.get(host)
        if held is None:
            held = self._of[host] = array("I", (0, site))
        held.append(slot)
        held.append(site)
        self._marks[slot] = True
        self._most = max(self._most, slot)
        self.count += 1

    def turn(self, host: int) -> bool:
        """Count a turn of a host, and return whether the next one is for a held page."""
        held = self._of[host]
        held[_TURNS] = min(held[_TURNS] + 1, 0xFFFFFFFF)
        return held[_TURNS] >= EVERY

    def release(self, host: int) -> int | None:
        """Take the next held page of a host: the first of the site whose turn it is; None if there is none."""
        held = self._of.get(host)
        if held is None:
            return None
        sites = np.frombuffer(held, np.uint32)[_HEAD + 1 :: 2]
        place = int(np.argmin(sites - np.uint32(held[_NEXT])))  # differences wrap around, so the lowest site follows
        held[_TURNS], held[_NEXT] = 0, min(sites.item(place) + 1, 0xFFFFFFFF)
        del sites  # else the array cannot shrink
        return self._out(host, held, place)

    def remove(self, host: int, slot: int) -> bool:
        """Remove a page of a host; return whether it was held."""
        if host not in self._of or not self._marks[slot]:
            return False
        held = self._of[host]
        place = int(np.argmax(np.frombuffer(held, np.uint32)[_HEAD::2] == slot))
        self._out(host, held, place)
        return True

    def drop(self, hosts: Iterable[int], unwanted: NDArray[np.uint8], dropped: NDArray[np.uint8]) -> int:
        """Remove pages of hosts whose bits are set in `unwanted`, set them in `dropped`, and return how many."""
        count = 0
        for host in [host for host in hosts if host in self._of]:
            for slot in self._of[host][_HEAD::2]:
                bit = 1 << (slot & 7)
                if unwanted.item(slot >> 3) & bit:
                    dropped[slot >> 3] |= np.uint8(bit)
                    count += self.remove(host, slot)
        return count

    def size_bytes(self) -> int:
        """Return the memory use in bytes."""
        return len(self._of) * _EACH + 8 * self.count + (self._most + 1 if self._most else 0)

    def _out(self, host: int, held: Any, place: int) -> int:
        at = _HEAD + 2 * place
        slot = int(held[at])
        del held[at : at + 2]
        if len(held) == _HEAD:
            del self._of[host]
        self._marks[slot] = False
        self.count -= 1
        return slot
