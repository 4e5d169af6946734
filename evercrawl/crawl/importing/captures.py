"""The items that a source of an import yields: captures of pages, their positions, and unusable records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, Protocol

from evercrawl.errors import EvercrawlError
from evercrawl.types import Exchange

NOT_DATED: Final = math.nan
"""The instant of a URL that is known without a visit."""


class UnusableError(Exception):
    """A record cannot be imported; the message says why."""


def told(error: Exception) -> str:
    """Return why foreign data cannot be used, given any error that our code raised on it.

    >>> told(UnusableError("no date")), told(OverflowError("int too large"))
    ('no date', 'it cannot be read: OverflowError: int too large')
    """
    if isinstance(error, UnusableError | EvercrawlError):
        return str(error)
    return f"it cannot be read: {type(error).__name__}: {error}"[:200]


@dataclass(frozen=True, slots=True)
class PastCapture:
    """One page at one instant, as another program saw it.

    Attributes
    ----------
    url
        The normalised URL.
    at
        When the page was fetched, in seconds since the epoch; nan if never, or if the source does not say.
    exchange
        The answer, with its body in its original codings; None if the source has no bodies.
    status
        HTTP status; 0 if unknown.
    digest
        The digest of the content as the source states it: captures of a page with equal digests have the same
        content; "" if the source states none.
    changed_at
        When the page last changed according to a sitemap; nan if unknown.
    """

    url: str
    at: float = NOT_DATED
    exchange: Exchange | None = None
    status: int = 0
    digest: str = ""
    changed_at: float = NOT_DATED


class Spot(NamedTuple):
    """The position and instant of a capture: all that is kept in memory until the capture is loaded.

    Attributes
    ----------
    at, has_body
        The instant of the capture, and whether it has a body.
    url
        The normalised URL; used while scanning, and then dropped.
    place, length, part
        The parameters of `Source.load`.
    """

    at: float
    has_body: bool
    url: str
    place: int
    length: int
    part: int = 0


class Unusable(NamedTuple):
    """A record that cannot be imported, and the reason."""

    where: str
    why: str


class LeftOut(NamedTuple):
    """A readable record that is of no use to a crawl, with the reason in a few words."""

    why: str


class Source(Protocol):
    """One file or folder of another program; `form` names its format in a word or two."""

    form: ClassVar[str]

    @property
    def name(self) -> str:
        """Name of the source, for messages."""
        ...

    @property
    def size_bytes(self) -> int:
        """Size of the data to be read, in bytes."""
        ...

    @property
    def read_bytes(self) -> int:
        """Number of these bytes that `scan` has read."""
        ...

    def scan(self) -> Iterator[Spot | Unusable | LeftOut]:
        """Yield the items of the source, in the order of the file."""
        ...

    def load(self, place: int, length: int, part: int) -> PastCapture:
        """Return the capture at a position.

        Raises
        ------
        UnusableError
            The capture cannot be imported.
        """
        ...

    def close(self) -> None:
        """Close open files."""
        ...
