"""For each host, one of its origins whose robots.txt could be fetched."""

from __future__ import annotations

import xxhash

from evercrawl.arrays.rows import Rows


class OpenOrigins:
    """One open origin of each host, as a mark of 4 bytes: two origins of a host share one by chance once in 4e9.

    Examples
    --------
    >>> origins = OpenOrigins()
    >>> origins.is_other(7, "http://a.example:81"), origins.note(7, "http://a.example")
    (False, None)
    >>> origins.is_other(7, "http://a.example:81"), origins.is_other(7, "http://a.example")
    (True, False)
    >>> origins.close(7), origins.is_other(7, "http://a.example:81")
    (None, False)
    """

    def __init__(self) -> None:
        self._marks = Rows("u4")  # by host; 0: none is open

    @property
    def nbytes(self) -> int:
        """Return the memory in use, in bytes."""
        return self._marks.nbytes

    def note(self, host: int, origin: str) -> None:
        """Record that an origin of a host is open."""
        self._marks.upto(max(host + 1, len(self._marks)))[host] = _mark(origin)

    def close(self, host: int) -> None:
        """Record that no origin of a host is known to be open."""
        if host < len(self._marks):
            self._marks.all()[host] = 0

    def is_other(self, host: int, origin: str) -> bool:
        """Return whether an origin of a host is known to be open, and it is not this one; no host has number -1."""
        mark = self._marks.all().item(host) if 0 <= host < len(self._marks) else 0
        return mark not in (0, _mark(origin))


def _mark(origin: str) -> int:
    return xxhash.xxh32_intdigest(origin.encode()) or 1
