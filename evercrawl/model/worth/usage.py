"""The usage log: queries, results shown and pages opened, in an append-only file of JSON lines.

One line is one query. A writer locks the file, and terminates a line left unfinished by a crash; a reader takes whole
lines only, so a running crawl can follow the file without locks. The file is not part of the journal, which records
the web and not its readers, and it can be deleted without harm to the crawl.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.parse.digest import checksum
from evercrawl.store.disk.leaving import see_staying
from evercrawl.store.disk.owner import see_owned
from evercrawl.store.disk.trouble import in_words

USAGE_FILE: Final = "usage.jsonl"
_PIECE: Final = 1 << 20  # bytes read at once: some thousand queries, which take a crawl a twentieth of a second
_LONGEST: Final = 1 << 25  # of a line; a longer one is not ours


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """One query and its outcome.

    Attributes
    ----------
    at
        Time of the query, in seconds since the epoch.
    query
        The words; "" if pages were opened without a query.
    shown
        Normalised URLs in the order shown, the best first.
    clicked
        The URLs opened; these may include some not shown.
    id
        Distinguishes otherwise equal queries; for a click, the query that it follows.
    first
        Place of the first of `shown`, from 0; larger on later result pages.
    places
        The place of each of `clicked`, in the same order; () if `shown` implies it, or it is unknown. Without `query`
        and `shown`, the line is a click that follows an earlier query.
    stranger
        Whether a client reported it that did not have the server's token and was on another machine.
    """

    at: float
    query: str = ""
    shown: tuple[str, ...] = ()
    clicked: tuple[str, ...] = ()
    id: str = ""
    first: int = 0
    places: tuple[int, ...] = ()
    stranger: bool = False

    @property
    def follows(self) -> bool:
        """Whether it is a click that follows an earlier query."""
        return bool(self.places) and not (self.shown or self.query)


_ENCODER: Final = msgspec.json.Encoder()
_STRANGER: Final = b'"stranger":true'  # in a line; within words, the quotes are escaped
_DECODER: Final = msgspec.json.Decoder(Question)


class Tail:
    """Reads a usage log from its beginning, and then what is appended; writes nothing.

    Parameters
    ----------
    path
        The file, which need not exist yet.

    Attributes
    ----------
    size, damaged
        Bytes read so far, and invalid lines among them.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._node = self._length = 0  # of the file at the last read
        self.size = self.damaged = 0

    def more(self) -> bool:
        """Whether there is something to read, or another file than before; as cheap as a stat call."""
        try:
            about = self._path.stat()
        except OSError:
            return self._node != 0
        return about.st_size != self._length or about.st_ino != self._node

    def read(self) -> tuple[bool, list[Question]]:
        """Return whether everything read before must be forgotten, and the new queries.

        That is so if the file was replaced, truncated or removed.
        """
        try:
            with self._path.open("rb") as file:
                about = os.fstat(file.fileno())
                anew = self.size > 0 and (about.st_ino != self._node or about.st_size < self.size)
                self._node = about.st_ino
                if anew:
                    self.size = self.damaged = 0
                file.seek(self.size)
                text = file.read(_PIECE)
                if len(text) == _PIECE and b"\n" not in text:
                    text += file.read(_LONGEST)
                self._length = self.size + len(text)
                return anew, self._questions(text)
        except OSError:
            anew, self._node, self._length, self.size, self.damaged = self.size > 0, 0, 0, 0, 0
            return anew, []

    def all(self) -> Generator[Question]:
        """Yield every query from here to the end of the file."""
        before = -1
        while self.size != before:
            before = self.size
            _, questions = self.read()
            yield from questions

    def _questions(self, text: bytes) -> list[Question]:
        whole = text.rfind(b"\n") + 1
        self.size += whole or (len(text) if len(text) > _LONGEST else 0)
        found: list[Question] = []
        for line in text[:whole].splitlines():
            if line:
                try:
                    found.append(_DECODER.decode(line))
                except (msgspec.MsgspecError, UnicodeDecodeError):  # left unfinished by a crash, and terminated since
                    self.damaged += 1
        return found


class UsageWriter:
    """Adds queries to a crawl's usage log, each once.

    Parameters
    ----------
    directory
        The crawl's directory.

    Attributes
    ----------
    added, again
        Number of queries added, and of those present already.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / USAGE_FILE
        self._tail = Tail(self._path)
        self._known: set[int] = set()
        self.added = self.again = 0

    def add(self, questions: Iterable[Question], *, once: bool = True) -> None:
        """Append queries; they are on disk when it returns.

        Parameters
        ----------
        questions
            In any order.
        once
            Whether to skip queries present already, for which the whole file is read.

        Raises
        ------
        NoRoomError, StoreError
            They could not be written; then none of them was.
        """
        try:
            with _alone(self._path) as file:
                lines = [_ENCODER.encode(question) for question in questions]
                fresh = self._fresh(lines) if once else lines
                _append(file, fresh)
        except OSError as error:
            raise in_words(error, "write", self._path) from error
        self.added += len(fresh)
        self.again += len(lines) - len(fresh)

    def shorten(self, most_bytes: int) -> None:
        """Drop the oldest lines of a log larger than `most_bytes`, strangers' first, until it has half that size.

        Raises
        ------
        NoRoomError, StoreError
            It could not be written; then nothing was dropped.
        """
        try:
            with _alone(self._path) as file:
                if os.fstat(file).st_size > most_bytes:
                    _drop(self._path, file, most_bytes // 2)
        except OSError as error:
            raise in_words(error, "write", self._path) from error

    def _fresh(self, lines: list[bytes]) -> list[bytes]:
        """Return the lines not present yet, considering other writers' additions."""
        if self._tail.more():
            self._known.update(checksum(_ENCODER.encode(question)) for question in self._tail.all())
        found: list[bytes] = []
        for line in lines:
            name = checksum(line)
            if name not in self._known:
                self._known.add(name)
                found.append(line)
        return found


@contextlib.contextmanager
def _alone(path: Path) -> Generator[int]:
    """Open a file for appending, locked until it is closed."""
    see_owned(path.parent)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        while not _is_at(file, path):  # meanwhile, it was shortened
            other = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            os.close(file)
            file = other
            fcntl.flock(file, fcntl.LOCK_EX)
        see_staying(path.parent)
        yield file
    finally:
        os.close(file)


def _is_at(file: int, path: Path) -> bool:
    """Whether a path leads to an open file."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(about, os.fstat(file))


def _drop(path: Path, file: int, most_bytes: int) -> None:
    """Replace a file by one with its newest lines, at most `most_bytes`; strangers' lines get the room others leave."""
    sizes = [0, 0]
    with path.open("rb") as lines:
        for line in lines:
            sizes[_STRANGER in line] += len(line)
        kept = min(sizes[False], most_bytes)
        drop = [sizes[False] - kept, max(sizes[True] - (most_bytes - kept), 0)]
        lines.seek(0)
        shorter = path.with_name(f"{path.name}.new")
        try:
            with shorter.open("wb") as target:
                os.fchmod(target.fileno(), os.fstat(file).st_mode & 0o777)
                for line in lines:
                    kind = _STRANGER in line
                    if drop[kind] > 0:
                        drop[kind] -= len(line)
                    else:
                        target.write(line)
                target.flush()
                os.fsync(target.fileno())
            shorter.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                shorter.unlink()
            raise


def _append(file: int, lines: list[bytes]) -> None:
    """Append lines, all or none, and sync them to disk."""
    if not lines:
        return
    size = os.fstat(file).st_size
    torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
    text = memoryview((b"\n" if torn else b"") + b"\n".join(lines) + b"\n")
    try:
        at = size
        while text:
            written = os.pwrite(file, text, at)
            at, text = at + written, text[written:]
        os.fsync(file)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(file, size)
        raise
