"""Which slots the index has: a bit each."""

from collections.abc import Iterable


class Members:
    """A set of slots in an eighth of a byte for each slot there is.

    Examples
    --------
    >>> members = Members([3, 70])
    >>> members.discard(3)
    >>> members.add(9)
    >>> 3 in members, 9 in members, 70 in members, 1_000_000 in members
    (False, True, True, False)
    """

    def __init__(self, slots: Iterable[int] = ()) -> None:
        self._bits = bytearray()
        for slot in slots:
            self.add(slot)

    def __contains__(self, slot: int) -> bool:
        return slot >> 3 < len(self._bits) and bool(self._bits[slot >> 3] & (1 << (slot & 7)))

    def add(self, slot: int) -> None:
        """Put a slot in."""
        missing = (slot >> 3) + 1 - len(self._bits)
        if missing > 0:
            self._bits.extend(bytes(max(missing, len(self._bits))))
        self._bits[slot >> 3] |= 1 << (slot & 7)

    def discard(self, slot: int) -> None:
        """Take a slot out, if it is in."""
        if slot in self:
            self._bits[slot >> 3] &= ~(1 << (slot & 7))
