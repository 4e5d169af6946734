"""One record of 96 bytes for each page that has been fetched, in the order of the first fetch."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.store.arena import reserve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.types import Floats, Slots

_FIELDS: Final = [
    ("slot", "<u4"),
    ("host", "<u4"),
    ("visited", "<u4"),  # last visit, in sixteenths of a second since the crawl's epoch
    ("size_bytes", "<u4"),
    ("digest", "<u8"),
    ("simhash", "<u8"),
    ("event", "<u8"),  # journal pointer of the last event that has links
    ("importance", "<f8"),  # the value x of push, the history H of AOPIC
    ("mark", "<f4"),  # the clock G at the last visit, for AOPIC
    ("rate_shape", "<f4"),  # evidence on the rate of change: what the visits add to the prior Gamma(shape, scale)
    ("rate_scale_s", "<f4"),
    ("alias", "<u4"),  # slot of the page that this one only leads to, NO_SLOT where it has content of its own
    ("changed", "<u4"),  # when the content last changed, as far as is known; like visited
    ("wire_bytes", "<u4"),  # of the last whole body, as it came over the wire
    ("seen", "<u4"),  # the last visit that saw the content; like visited
    ("words", "<u4"),  # 32 bits of the digest of its text
    ("visits", "<u2"),
    ("changes", "<u2"),
    ("status", "<u2"),  # HTTP status of the last visit
    ("outcome", "u1"),  # `Outcome` of the last visit
    ("depth", "u1"),
    ("misses", "u1"),  # visits in a row that found it gone, or in trouble
    ("flags", "u1"),  # the bits below
    ("lasting", "<i2"),  # how much of what a change brings stays; see `lasting`
    ("earlier", "<u4"),  # bits of the state before a change that no visit has judged yet; 0 for none
]


def _record() -> np.dtype[Any]:
    """Return the fields one after another, filled up to a multiple of eight."""
    names, formats = zip(*_FIELDS, strict=True)
    ends = np.cumsum([np.dtype(form).itemsize for form in formats]).tolist()
    size = -(-ends[-1] // 8) * 8
    return np.dtype({"names": list(names), "formats": list(formats), "offsets": [0, *ends[:-1]], "itemsize": size})


RECORD: Final = _record()
"""A record: 96 bytes of fields, each where its type wants to be, and none to spare."""

_PACKED: Final = Struct("<4I3Qd3f5I3H4BhI")
assert _PACKED.size == RECORD.itemsize, "one letter for each field"

MEMBER: Final = 1
"""In `flags`: its site's virtual cash goes to this page too."""
VALIDATED: Final = 2
"""In `flags`: the server sent validators, so a visit that finds no change is cheap."""
FINDABLE: Final = 4
"""In `flags`: its content is held and is no copy of another page's, so the search index has an entry for it."""
NEAR: Final = 8
"""In `flags`: a page that was read before it said nearly the same. The next three bits are its `media_kind`."""


class Records:
    """An array of `RECORD` that grows at the end.

    Parameters
    ----------
    capacity
        Records there may be; address space is reserved for all of them.
    width
        How many numbers the scheme of importance keeps of a page beside history and mark.

    Attributes
    ----------
    rows
        Every row there could be, as a structured array: those before `count` are in use, the others zero. The array
        stays the same while records are added, so views of it may be kept.
    kept
        Those numbers, shape (capacity, width), f64; it costs memory only where there are any.
    count
        Records in use.

    Examples
    --------
    >>> records = Records()
    >>> index = records.add()
    >>> records.rows["status"][index] = 200
    >>> index, records.count, records.rows["status"][:records.count].tolist()
    (0, 1, [200])
    """

    def __init__(self, capacity: int = 1 << 28, width: int = 0) -> None:
        self.rows: NDArray[Any] = reserve(RECORD, capacity)
        self._bytes = self.rows.view(np.uint8).data
        self.count = 0
        self.kept: Floats
        self.keep(width)

    def keep(self, width: int) -> None:
        """Keep so many numbers of each page from now on, all 0; what was kept before is forgotten."""
        self.kept = reserve(np.dtype((np.float64, (width,))), len(self.rows)) if width else np.zeros((0, 0))

    def kept_at(self, cells: Slots) -> Floats | None:
        """Return what is kept of pages, shape (n, width), by their cells in `Table.record`; None where that is nothing.

        Zeros stand for a page that has no record.
        """
        if not self.kept.shape[1]:
            return None
        kept: Floats = self.kept.take(np.minimum(cells, np.uint32(self.count)), axis=0)
        return kept

    def read(self, index: int) -> tuple[Any, ...]:
        """Return the fields of a record, in their order: what `rows[index].item()` returns, in a third of its time."""
        return _PACKED.unpack_from(self._bytes, index * _PACKED.size)

    def add(self) -> int:
        """Return the index of a new record, all zero."""
        index = self.count
        assert index < len(self.rows), "more records than address space"
        self.count = index + 1
        return index

    def resize(self, count: int) -> None:
        """Make `count` records be in use; those added are zero, those taken away are cleared."""
        assert 0 <= count <= len(self.rows), "more records than address space"
        self.rows[count : self.count] = np.zeros((), RECORD)
        self.kept[count : self.count] = 0.0
        self.count = count
