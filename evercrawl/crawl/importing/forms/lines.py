"""The base of text formats: files of records of one or more lines, each about one page."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from evercrawl.crawl.importing import files
from evercrawl.crawl.importing.captures import LeftOut, PastCapture, Spot, Unusable, UnusableError, told
from evercrawl.parse.urls import normalise


class NothingHereError(Exception):
    """A record without a page, such as a heading, or of no use to a crawl; the message, if any, is the reason."""


class TextSource(ABC):
    """A source that reads a text file.

    Parameters
    ----------
    path
        The file; a compressed file is decompressed to a temporary file without a name.
    """

    form: ClassVar[str] = ""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, files.plain(path)
        self._file.seek(0, 2)
        self.name, self.size_bytes, self.read_bytes = str(path), self._file.tell(), 0

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the position and the bytes of each record; by default a record is a line."""
        return files.lines(self._file)

    @abstractmethod
    def captures(self, record: str) -> list[PastCapture]:
        """Return the captures in a record.

        Raises
        ------
        UnusableError
            The record cannot be read.
        NothingHereError
            The record is of no use to a crawl; the message, if any, is the reason.
        """

    def scan(self) -> Iterator[Spot | Unusable | LeftOut]:
        """Yield the captures of the file, and the records that cannot be used."""
        for count, (place, record) in enumerate(self.records(), 1):
            self.read_bytes = place + len(record)
            try:
                if len(record) > files.MOST_LINE_BYTES:
                    raise UnusableError("the record is longer than 1 MiB")
                found = self.captures(record.decode("utf-8", "replace"))
            except NothingHereError as reason:
                if str(reason):
                    yield LeftOut(str(reason))
                continue
            except MemoryError:
                raise
            except Exception as error:
                yield Unusable(f"{self.name}, record {count}", told(error))
                continue
            for part, capture in enumerate(found):
                yield Spot(capture.at, capture.exchange is not None, capture.url, place, len(record), part)

    def load(self, place: int, length: int, part: int) -> PastCapture:
        """Return the capture at a position."""
        return self.captures(files.read_at(self._file, place, length).decode("utf-8", "replace"))[part]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def address(text: str) -> str:
    """Return a normalised URL.

    Raises
    ------
    UnusableError
        The text is not a URL that can be fetched.
    """
    url = normalise(text)
    if url is None:
        raise UnusableError(f"{text[:200]!r} is not an http or https URL")
    return url


def dated(at: float, text: str) -> float:
    """Return `at`, the instant parsed from a text, after checking it.

    Raises
    ------
    UnusableError
        The text is not a date.
    """
    if math.isnan(at) or at <= 0:
        raise UnusableError(f"{text[:60]!r} is not a date")
    return at
