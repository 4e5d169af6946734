"""Readers of Scrapy's files: waiting requests of a job directory (JOBDIR), and answers in a cache (HTTPCACHE_DIR).

Of finished requests a job keeps only fingerprints, from which no URL can be recovered; they are counted.

References
----------
Scrapy, "Jobs: pausing and resuming crawls", and `FilesystemCacheStorage`; queuelib, `LifoDiskQueue`, `FifoDiskQueue`.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

from evercrawl.crawl.importing import files
from evercrawl.crawl.importing.captures import LeftOut, PastCapture, Spot, Unusable, UnusableError, told
from evercrawl.crawl.importing.forms import pickled
from evercrawl.crawl.importing.forms.answers import answer
from evercrawl.crawl.importing.forms.lines import address, dated
from evercrawl.crawl.importing.forms.warc import is_document
from evercrawl.errors import ConfigError

QUEUE: Final = "requests.queue"
SEEN: Final = "requests.seen"
META: Final = "pickled_meta"
_LENGTH: Final = struct.Struct(">L")
_MOST_BYTES: Final = 64 << 20  # of an item
_MOST_QUEUE_BYTES: Final = 1 << 30
_PIECE: Final = 1 << 20


class ScrapyJobSource:
    """A job directory of Scrapy, which yields the waiting URLs."""

    form: ClassVar[str] = "Scrapy job"

    def __init__(self, path: Path) -> None:
        self.name, self.read_bytes = str(path), 0
        if (path / QUEUE).is_symlink():
            raise ConfigError(f"{path / QUEUE} is a link; import the folder that it leads to")
        self._files = sorted(file for file in (path / QUEUE).rglob("*") if file.is_file() and file.suffix != ".json")
        self._seen = path / SEEN
        self.size_bytes = sum(file.stat().st_size for file in self._files)

    def scan(self) -> Iterator[Spot | Unusable | LeftOut]:
        """Yield the waiting requests, and one item for each finished request."""
        waiting = 0
        for number, file in enumerate(self._files):
            try:
                data = files.content(file, _MOST_QUEUE_BYTES)
            except UnusableError as error:
                yield Unusable(str(file), str(error))
                continue
            places = _stacked(data) if not file.name.startswith("q") else _queued(data, file)
            for place, length in places:
                try:
                    url = _url_of(data[place : place + length])
                except Exception as error:
                    yield Unusable(f"{file}, byte {place}", told(error))
                else:
                    waiting += 1
                    yield Spot(math.nan, False, url, place, length, number)
            self.read_bytes += len(data)
        if self._seen.is_file():
            with files.opened(self._seen) as lines:
                made = sum(piece.count(b"\n") for piece in iter(lambda: lines.read(_PIECE), b""))
            for _ in range(max(made - waiting, 0)):
                yield LeftOut("a finished request, of which Scrapy keeps a fingerprint but no URL")

    def load(self, place: int, length: int, part: int) -> PastCapture:
        """Return the URL of a waiting request, as a capture without a date."""
        with files.opened(self._files[part]) as file:
            return PastCapture(_url_of(files.read_at(file, place, length)))

    def close(self) -> None:
        """Do nothing: no file stays open."""


class ScrapyCacheSource:
    """A cache of Scrapy in the file system, which yields the answers."""

    form: ClassVar[str] = "Scrapy cache"

    def __init__(self, path: Path) -> None:
        self.name, self.read_bytes = str(path), 0
        self._folders = sorted(meta.parent for meta in path.rglob(META))
        self.size_bytes = len(self._folders)

    def scan(self) -> Iterator[Spot | Unusable | LeftOut]:
        """Yield the cached answers."""
        for place, folder in enumerate(self._folders):
            self.read_bytes += 1
            try:
                capture = self.load(place, 0, 0)
            except MemoryError:
                raise
            except Exception as error:
                yield Unusable(str(folder), told(error))
                continue
            kind = capture.exchange.headers.get("content-type", "") if capture.exchange is not None else ""
            if is_document(kind, capture.url):
                yield Spot(capture.at, True, capture.url, place, 0)
            else:
                yield LeftOut("not a document")

    def load(self, place: int, length: int, part: int) -> PastCapture:
        """Return a cached answer."""
        folder = self._folders[place]
        meta: dict[Any, Any] = pickled.read(_read(folder / META))
        url, at, status = address(str(meta.get("response_url", ""))), meta.get("timestamp"), meta.get("status")
        if not isinstance(at, (int, float)) or not isinstance(status, int):
            raise UnusableError("pickled_meta has no timestamp or no status")
        fields = _read(folder / "response_headers").strip()
        head = f"HTTP/1.1 {status}\r\n".encode() + (fields + b"\r\n" if fields else b"") + b"\r\n"
        exchange = answer(url, dated(float(at), str(at)), head, _read(folder / "response_body"))
        return PastCapture(url, exchange.at, exchange, status)

    def close(self) -> None:
        """Do nothing: no file stays open."""


def _read(path: Path) -> bytes:
    return files.content(path, packed=path.name != "response_body")


def _url_of(data: bytes) -> str:
    """Return the URL of a request as pickled by Scrapy."""
    request = pickled.read(data)
    if str(request.get("method", "GET")) != "GET":
        raise UnusableError(f"the method is {request.get('method')}, but only GET requests can be repeated")
    return address(str(request.get("url", "")))


def _stacked(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield position and length of the items of a `LifoDiskQueue`, in which the length follows each item."""
    end, found = len(data), list[tuple[int, int]]()
    while end > _LENGTH.size:
        (length,) = _LENGTH.unpack_from(data, end - _LENGTH.size)
        end -= _LENGTH.size + length
        if end < _LENGTH.size or length > _MOST_BYTES:
            break
        found.append((end, length))
    yield from reversed(found)


def _queued(data: bytes, file: Path) -> Iterator[tuple[int, int]]:
    """Yield position and length of the items of a chunk of a `FifoDiskQueue`, without items already removed."""
    place = 0
    try:
        number, _, offset = json.loads(files.content(file.parent / "info.json", _PIECE))["tail"]
        place = max(int(offset), 0) if int(file.name[1:]) == number else 0
    except (UnusableError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        pass  # Scrapy was killed: removed items may be tried again
    while place + _LENGTH.size <= len(data):
        (length,) = _LENGTH.unpack_from(data, place)
        if length > _MOST_BYTES or place + _LENGTH.size + length > len(data):
            return
        yield place + _LENGTH.size, length
        place += _LENGTH.size + length
