"""Questions as other programs tell them: JSON lines, each judged by itself, so that a bad one costs no other."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO, Final, NamedTuple

import msgspec

from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.parse.urls import normalise

LONGEST_LINE: Final = 1 << 20
MOST_CHARS: Final = 2_000
"""Of a query that are kept."""
MOST_URLS: Final = 1_000
"""That one question may have shown, or opened."""
_PIECE: Final = 1 << 20
_LAST: Final = 1_000_000  # place
_SHOWN: Final = 80  # characters of a wrong value that are repeated


class BadLine(NamedTuple):
    """A line that is no question: its number, from 1, and why not."""

    number: int
    why: str


class _Given(msgspec.Struct):
    """A line as it is written."""

    at: float | str
    query: str = ""
    shown: list[str] = []
    clicked: list[str] = []
    id: str | int = ""
    first: int = 0
    places: list[int] = []


_GIVEN: Final = msgspec.json.Decoder(_Given)


def question(line: bytes) -> Question:
    """Return what a line tells.

    Raises
    ------
    ValueError
        It is no question; the message says what to write instead.

    Examples
    --------
    >>> question(b'{"at": "2024-05-01T12:00:00Z", "query": "tea", "shown": ["http://A.example"], "clicked": []}')
    Question(at=1714564800.0, query='tea', shown=('http://a.example/',), clicked=(), id='', first=0, places=())
    """
    try:
        given = _GIVEN.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(f'{error}; write {{"at": ..., "query": ..., "shown": [...], "clicked": [...]}}') from error
    shown, clicked = _urls(given.shown, "shown"), _urls(given.clicked, "clicked")
    query = given.query.strip()[:MOST_CHARS]
    if not (query or shown or clicked):
        raise ValueError("nothing was asked, shown or opened; name a query, or pages")
    if len(given.places) not in (0, len(clicked)) or not all(
        0 <= place <= _LAST for place in (given.first, *given.places)
    ):
        raise ValueError("first and places count from 0, and places has one number for each URL of clicked")
    return Question(_instant(given.at), query, shown, clicked, str(given.id), given.first, tuple(given.places))


def take_in(source: BinaryIO, writer: UsageWriter) -> Iterator[BadLine]:
    """Add the questions of a file, or of a stream as they come in; yield each line that is none.

    Raises
    ------
    NoRoomError, StoreError
        They could not be written; those up to the last few are there, and the same file can be taken in again.
    """
    number = 0
    for lines in _pieces(source):
        good: list[Question] = []
        for line in lines:
            number += 1
            if line.strip():
                try:
                    good.append(question(line))
                except ValueError as error:
                    yield BadLine(number, str(error))
        writer.add(good)


def _pieces(source: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the lines of a source, as many at a time as are there; of one that is too long no more than its start."""
    rest, overlong = b"", False
    while piece := _some(source):
        *lines, rest = (rest + piece).split(b"\n")
        if overlong and lines:
            lines, overlong = [b"x" * (LONGEST_LINE + 1), *lines[1:]], False
        if len(rest) > LONGEST_LINE:
            rest, overlong = b"", True
        if lines:
            yield lines
    if rest or overlong:
        yield [rest if not overlong else b"x" * (LONGEST_LINE + 1)]


def _some(source: BinaryIO) -> bytes:
    """Return what there is to be read, waiting for it where nothing is yet; b"" at the end."""
    read1 = getattr(source, "read1", None)
    some: bytes = read1(_PIECE) if read1 is not None else source.read(_PIECE)
    return some


def _urls(given: list[str], where: str) -> tuple[str, ...]:
    if len(given) > MOST_URLS:
        raise ValueError(f"{where} has {len(given):,} URLs; {MOST_URLS:,} are the most of one question")
    found = [normalise(url) for url in given]
    for url, normalised in zip(given, found, strict=True):
        if normalised is None:
            raise ValueError(f"{url[:_SHOWN]!r} in {where} is not an http or https URL; write it whole")
    return tuple(url for url in found if url is not None)


def _instant(given: float | str) -> float:
    """Return seconds since the epoch; a text without a time zone is in UTC."""
    if isinstance(given, str):
        try:
            at = datetime.fromisoformat(given)
        except ValueError as error:
            raise ValueError(f"at must be seconds since 1970 or such as 2024-05-01T12:00:00Z, not {given!r}") from error
        given = at.replace(tzinfo=at.tzinfo or UTC).timestamp()
    if not (math.isfinite(given) and given >= 0):
        raise ValueError(f"at must be an instant since 1970, not {given!r}")
    return given
