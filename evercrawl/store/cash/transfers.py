"""Encoding of the cash that a visit moved, as stored in its event."""

from collections.abc import Sequence
from struct import Struct
from struct import pack as pack_struct
from struct import unpack as unpack_struct
from typing import Final, NamedTuple

_KEPT: Final = Struct("<dffff")
_RELINKED: Final = Struct("<dffffff")
_OWN: Final = Struct("<df")
_SINGLE: Final = Struct("<f")


class Moved(NamedTuple):
    """The cash that one visit moved.

    Attributes
    ----------
    history, mark
        The page's values after the visit.
    moved
        Cash taken from the page's own.
    internal, external
        Paid to each internal or external link that holds since the visit.
    back_internal, back_external
        Taken back from each link that held before.
    """

    history: float
    mark: float
    moved: float
    internal: float
    external: float
    back_internal: float = 0.0
    back_external: float = 0.0

    @property
    def is_something(self) -> bool:
        """Return whether any cash moves."""
        return bool(self.moved or self.internal or self.external or self.takes_back)

    @property
    def takes_back(self) -> bool:
        """Return whether earlier links must give back cash."""
        return bool(self.back_internal or self.back_external)


def pack(moved: Moved) -> bytes:
    """Return 24 bytes, or 32 if something is taken back; all but the history is rounded to f32.

    >>> unpack(pack(Moved(1.5, 0.0, 0.5, 0.25, 0.125)))
    Moved(history=1.5, mark=0.0, moved=0.5, internal=0.25, external=0.125, back_internal=0.0, back_external=0.0)
    """
    if moved.takes_back:
        return _RELINKED.pack(*moved)
    return _KEPT.pack(moved.history, moved.mark, moved.moved, moved.internal, moved.external)


def unpack(data: bytes) -> Moved:
    """Return what `pack` packed, rounded."""
    return Moved(*(_KEPT if len(data) == _KEPT.size else _RELINKED).unpack(data))


def unpack_kept(data: bytes) -> tuple[float, float]:
    """Return only history and mark.

    >>> unpack_kept(pack(Moved(1.5, 0.25, 0.5, 0.25, 0.125)))
    (1.5, 0.25)
    """
    history, mark = _OWN.unpack_from(data)
    return history, mark


def pack_numbers(kept: Sequence[float]) -> bytes:
    """Return the scheme's further numbers about a page, 8 bytes each.

    >>> unpack_numbers(pack_numbers((0.1, 2))), pack_numbers(())
    ((0.1, 2.0), b'')
    """
    return pack_struct(f"<{len(kept)}d", *kept)


def unpack_numbers(data: bytes) -> tuple[float, ...]:
    """Return what `pack_numbers` packed."""
    return unpack_struct(f"<{len(data) // 8}d", data)


def rounded(amount: float) -> float:
    """Return `amount` as rounded by `pack`."""
    single: float = _SINGLE.unpack(_SINGLE.pack(amount))[0]
    return single
