"""What all forms of text have in common: records of some lines, each of which says something of one page."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Final

from evercrawl.crawl.importing import files
from evercrawl.crawl.importing.captures import LeftOut, PastCapture, Spot, Unusable, UnusableError
from evercrawl.parse.urls import normalise

MOST_LINE_BYTES: Final = 1 << 20


class NothingHereError(Exception):
    """A record that says nothing of a page, and needs not: a heading, say; or a reason to leave it out."""


class TextSource(ABC):
    """A file of text.

    Parameters
    ----------
    path
        The file; where it is compressed it is inflated into a file without a name.
    """

    form: ClassVar[str] = ""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, files.plain(path)
        self._file.seek(0, 2)
        self.name, self.size_bytes, self.read_bytes = str(path), self._file.tell(), 0

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the records of the file, and where each begins; by default its lines."""
        return files.lines(self._file)

    @abstractmethod
    def captures(self, record: str) -> list[PastCapture]:
        """Return what a record says.

        Raises
        ------
        UnusableError
            It cannot be read.
        NothingHereError
            It says nothing that a crawl could use; the message, where there is one, says what it is.
        """

    def scan(self) -> Iterator[Spot | Unusable | LeftOut]:
        """Yield what is there."""
        for count, (place, record) in enumerate(self.records(), 1):
            self.read_bytes = place + len(record)
            try:
                if len(record) > MOST_LINE_BYTES:
                    raise UnusableError("it is longer than a mebibyte")
                found = self.captures(record.decode("utf-8", "replace"))
            except NothingHereError as reason:
                if str(reason):
                    yield LeftOut(str(reason))
                continue
            except UnusableError as error:
                yield Unusable(f"{self.name}, record {count}", str(error))
                continue
            for part, capture in enumerate(found):
                yield Spot(capture.at, capture.exchange is not None, capture.url, place, len(record), part)

    def load(self, place: int, length: int, part: int) -> PastCapture:
        """Return the capture at a spot."""
        return self.captures(files.read_at(self._file, place, length).decode("utf-8", "replace"))[part]

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def address(text: str) -> str:
    """Return a URL, normalised.

    Raises
    ------
    UnusableError
        It is none that can be fetched.
    """
    url = normalise(text)
    if url is None:
        raise UnusableError(f"{text[:200]!r} is no http or https URL")
    return url


def dated(at: float, text: str) -> float:
    """Return an instant that has to be one.

    Raises
    ------
    UnusableError
        It is none.
    """
    if math.isnan(at) or at <= 0:
        raise UnusableError(f"{text[:60]!r} is no date")
    return at
