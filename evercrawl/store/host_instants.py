"""An instant for each of some hosts, by number."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.arrays.rows import Rows

if TYPE_CHECKING:
    from evercrawl.types import Floats

_PACKED: Final = np.dtype([("host", "<u4"), ("at", "<f8")])


class HostInstants(Mapping[int, float]):
    """Instants by host, in seconds since the epoch; at most 8 bytes for each known host.

    Another thread may call `packed` while instants are set.

    Examples
    --------
    >>> instants = HostInstants({7: 1.5})
    >>> instants[2] = 0.25
    >>> instants, len(instants), instants.get(3)
    ({2: 0.25, 7: 1.5}, 2, None)
    >>> HostInstants.unpacked(instants.packed()) == instants
    True
    """

    def __init__(self, instants: Mapping[int, float] | None = None) -> None:
        self._at = Rows("f8")  # 0: no instant
        for host, at in (instants or {}).items():
            self[host] = at

    @classmethod
    def unpacked(cls, data: bytes) -> HostInstants:
        """Return what `packed` packed.

        Raises
        ------
        ValueError
            The data are damaged.
        """
        rows, made = np.frombuffer(data, _PACKED), cls()
        if len(rows):
            made._at.upto(int(rows["host"].max()) + 1)[rows["host"]] = rows["at"]
        return made

    def packed(self) -> bytes:
        """Return all instants as bytes, in the order of the hosts."""
        at: Floats = self._at.all()
        hosts = np.flatnonzero(at != 0.0)  # of a copy: numpy counts first, and one may be set before it fills
        rows = np.empty(len(hosts), _PACKED)
        rows["host"], rows["at"] = hosts, at[hosts]
        return rows.tobytes()

    def __setitem__(self, host: int, at: float) -> None:
        """Set the instant of a host, which is not 0."""
        self._at.upto(max(host + 1, len(self._at)))[host] = at

    def __getitem__(self, host: int) -> float:
        """Return the instant of a host.

        Raises
        ------
        KeyError
            It has none.
        """
        at = float(self._at.all()[host]) if 0 <= host < len(self._at) else 0.0
        if not at:
            raise KeyError(host)
        return at

    def __iter__(self) -> Iterator[int]:
        """Yield the hosts that have an instant, in order."""
        hosts: list[int] = np.flatnonzero(self._at.all()).tolist()
        return iter(hosts)

    def __len__(self) -> int:
        """Return how many hosts have an instant."""
        return int(np.count_nonzero(self._at.all()))

    def items(self) -> ItemsView[int, float]:
        """Return the hosts that have an instant, in order, with the instants."""
        at: Floats = self._at.all()
        hosts = np.flatnonzero(at != 0.0)
        found: dict[int, float] = dict(zip(hosts.tolist(), at[hosts].tolist(), strict=True))
        return found.items()

    def __repr__(self) -> str:
        """Return the representation of a dict of them."""
        return repr(dict(self.items()))
