"""Import of questions from other programs: JSON lines, each validated separately."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO, Final, NamedTuple

import msgspec

from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.parse.urls import normalise

LONGEST_LINE: Final = 1 << 20
MOST_CHARS: Final = 2_000
"""Maximum characters of a query that are kept."""
MOST_URLS: Final = 1_000
"""Maximum URLs shown, or opened, in one question."""
_PIECE: Final = 1 << 20
_LAST: Final = 1_000_000  # largest place
_SHOWN: Final = 80  # characters of an invalid value that are quoted


class BadLine(NamedTuple):
    """An invalid line: its number, from 1, and the reason."""

    number: int
    why: str


class _Given(msgspec.Struct):
    """A line as written."""

    at: float | str
    query: str = ""
    shown: list[str] = []
    clicked: list[str] = []
    id: str | int = ""
    first: int = 0
    places: list[int] = []


_GIVEN: Final = msgspec.json.Decoder(_Given)


def question(line: bytes) -> Question:
    """Return the question in a line.

    Raises
    ------
    ValueError
        The line is invalid; the message says what to write instead.

    Examples
    --------
    >>> told = question(b'{"at": "2024-05-01T12:00:00Z", "query": "tea", "shown": ["http://A.example"], "clicked": []}')
    >>> told.at, told.query, told.shown, told.clicked
    (1714564800.0, 'tea', ('http://a.example/',), ())
    """
    try:
        given = _GIVEN.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(f'{error}; write {{"at": ..., "query": ..., "shown": [...], "clicked": [...]}}') from error
    shown, clicked = _urls(given.shown, "shown"), _urls(given.clicked, "clicked")
    query = given.query.strip()[:MOST_CHARS]
    if not (query or shown or clicked):
        raise ValueError("there is no query, and no page shown or opened; give at least one of them")
    if len(given.places) not in (0, len(clicked)) or not all(
        0 <= place <= _LAST for place in (given.first, *given.places)
    ):
        raise ValueError("first and places must count from 0, and places must have one number for each URL of clicked")
    return Question(_instant(given.at), query, shown, clicked, str(given.id), given.first, tuple(given.places))


def take_in(source: BinaryIO, writer: UsageWriter) -> Iterator[BadLine]:
    """Record the questions of a file, or of a stream as they arrive; yield each invalid line.

    Raises
    ------
    NoRoomError, StoreError
        They could not be written; all but the last few are recorded, and the same file can be imported again.
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
    """Yield the lines of a source as they become available; an overlong line is replaced by a placeholder."""
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
    """Return available bytes, waiting if there are none yet; b"" at the end."""
    read1 = getattr(source, "read1", None)
    some: bytes = read1(_PIECE) if read1 is not None else source.read(_PIECE)
    return some


def _urls(given: list[str], where: str) -> tuple[str, ...]:
    if len(given) > MOST_URLS:
        raise ValueError(f"{where} has {len(given):,} URLs; a question may have at most {MOST_URLS:,}")
    found = [normalise(url) for url in given]
    for url, normalised in zip(given, found, strict=True):
        if normalised is None:
            raise ValueError(f"{url[:_SHOWN]!r} in {where} is not an http or https URL; write the complete URL")
    return tuple(url for url in found if url is not None)


def _instant(given: float | str) -> float:
    """Return seconds since the epoch; a text without a time zone is in UTC."""
    if isinstance(given, str):
        try:
            at = datetime.fromisoformat(given)
        except ValueError as error:
            raise ValueError(f"at must be seconds since 1970, or 2024-05-01T12:00:00Z, not {given!r}") from error
        given = at.replace(tzinfo=at.tzinfo or UTC).timestamp()
    if not (math.isfinite(given) and given >= 0):
        raise ValueError(f"at must be a time since 1970, not {given!r}")
    return given
