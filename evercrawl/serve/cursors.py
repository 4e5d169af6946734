"""Cursors: opaque positions in lists, by which a client requests the next page of results."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

import msgspec

from evercrawl.serve.asking import Parameters
from evercrawl.serve.problems import RequestError
from evercrawl.serve.replica import CrawlReplica

CURSOR: Final = "cursor"
"""Parameter of every list."""
NEXT: Final = "next_cursor"
"""Field of every list: what to give as `CURSOR` for what follows; null at the end."""
_LONGEST: Final = 400
_ASKED_BYTES: Final = 6


class ListPlace(msgspec.Struct, array_like=True, frozen=True):
    """A position in a list: after a line.

    Attributes
    ----------
    crawl, asked
        The crawl, and the query, both shortened: a cursor is invalid for any other.
    sequence
        Number of events that the response is based on.
    told
        Number of lines returned so far.
    key, name
        The line's sort key, and its name as a tie-breaker.
    """

    crawl: str
    asked: bytes
    sequence: int
    told: int
    key: float
    name: int | str


class ListCursors:
    """Parses the cursor of a request, and creates that of its response.

    Lists are ordered by current values, so a cursor contains the value of its line and not its rank: lines whose
    value stays are returned once, whatever changes before them.

    Parameters
    ----------
    replica
        The crawl.
    given
        The request's parameters, including `CURSOR`.
    asked
        The other parameters that affect order and selection of the lines.

    Raises
    ------
    RequestError
        The cursor is invalid, or of another list.
    """

    def __init__(self, replica: CrawlReplica, given: Parameters, *asked: object) -> None:
        self._crawl, self._sequence = replica.crawl[:16], replica.sequence
        self._asked = hashlib.sha256(repr(asked).encode()).digest()[:_ASKED_BYTES]
        token = given.text(CURSOR, most=_LONGEST)
        self._place = self._read(token) if token else None

    @property
    def told(self) -> int:
        """Number of lines already returned."""
        return self._place.told if self._place is not None else 0

    @property
    def number(self) -> tuple[float, int] | None:
        """Key and number of the last line; None at the start."""
        place = self._place
        return None if place is None else (place.key, place.name if isinstance(place.name, int) else 0)

    @property
    def text(self) -> tuple[float, str] | None:
        """Key and name of the last line; None at the start."""
        return None if self._place is None else (self._place.key, str(self._place.name))

    def behind(self, lines: int, key: float, name: int | str) -> str:
        """Return the cursor after the last line of a response."""
        place = ListPlace(self._crawl, self._asked, self._sequence, self.told + lines, key, name)
        return base64.urlsafe_b64encode(msgspec.msgpack.encode(place)).rstrip(b"=").decode("ascii")

    def _read(self, token: str) -> ListPlace:
        try:
            place = msgspec.msgpack.decode(base64.urlsafe_b64decode(token.encode("ascii") + b"=="), type=ListPlace)
        except (binascii.Error, UnicodeError, msgspec.MsgspecError, ValueError):
            raise RequestError(400, f"{token[:40]!r} is not a cursor; give one that an answer had as {NEXT}") from None
        if place.crawl != self._crawl:
            raise RequestError(400, f"that cursor belongs to another crawl; ask without {CURSOR}")
        if place.asked != self._asked:
            raise RequestError(
                400, f"that cursor belongs to another list; ask again with the same parameters, but {CURSOR}"
            )
        if place.told < 0 or place.key != place.key:
            raise RequestError(400, f"{token[:40]!r} is not a cursor; give one that an answer had as {NEXT}")
        return place
