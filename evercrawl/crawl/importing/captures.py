"""What a source says of the past: one capture of one page, where it stands in its file, and what cannot be used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, Protocol

from evercrawl.types import Exchange

NOT_DATED: Final = math.nan
"""Instant of a URL that is known, and of no visit."""


class UnusableError(Exception):
    """A record cannot be taken in; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class PastCapture:
    """One page at one instant, as another program saw it.

    Attributes
    ----------
    url
        Normalised.
    at
        When it was fetched, in seconds since the epoch; nan where it never was, or nobody says.
    exchange
        The answer, its body in whatever codings it has; None where the source has no bodies.
    status
        HTTP status; 0 where it is not known.
    digest
        What the source says of the content, in its own words: two captures of a page have the same content if these
        are the same; "" where it says nothing.
    changed_at
        When the page last changed, by a sitemap; nan where nothing is said.
    """

    url: str
    at: float = NOT_DATED
    exchange: Exchange | None = None
    status: int = 0
    digest: str = ""
    changed_at: float = NOT_DATED


class Spot(NamedTuple):
    """Where a capture stands, and when it was made: what is kept in memory of each until it is its turn.

    Attributes
    ----------
    at, has_body
        As of the capture.
    url
        Normalised; looked at while scanning, and then dropped.
    place, length, part
        What `Source.load` takes.
    """

    at: float
    has_body: bool
    url: str
    place: int
    length: int
    part: int = 0


class Unusable(NamedTuple):
    """A record that cannot be taken in, and why."""

    where: str
    why: str


class LeftOut(NamedTuple):
    """A record that is whole, and of no use to a crawl: why, in a few words."""

    why: str


class Source(Protocol):
    """One file or folder of another program; `form` says in a word or two what it is."""

    form: ClassVar[str]

    @property
    def name(self) -> str:
        """Return its name, for people."""
        ...

    @property
    def size_bytes(self) -> int:
        """Return how much there is to be read."""
        ...

    @property
    def read_bytes(self) -> int:
        """Return how much of that `scan` has read."""
        ...

    def scan(self) -> Iterator[Spot | Unusable | LeftOut]:
        """Yield what is there, in the order of the file."""
        ...

    def load(self, place: int, length: int, part: int) -> PastCapture:
        """Return the capture at a spot.

        Raises
        ------
        UnusableError
            It cannot be taken in.
        """
        ...

    def close(self) -> None:
        """Give back what is open."""
        ...
