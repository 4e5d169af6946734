"""What people asked, what they were shown and what they opened: a file of JSON lines that only grows.

One line is one question. Whoever adds lines has the file for himself while he does, and ends a line that somebody left
unfinished; whoever reads takes whole lines only, so a crawl that runs can follow the file without locking anything. It
is no part of the journal: what people do is not what the web did, and it can be deleted without harm to the crawl.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.parse.digest import checksum
from evercrawl.store.disk.trouble import in_words

USAGE_FILE: Final = "usage.jsonl"
_PIECE: Final = (
    1 << 20
)  # bytes that are read at once: some thousand questions, which take a crawl a twentieth of a second
_LONGEST: Final = 1 << 25  # of a line; more without an end is none of ours


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question and what became of it.

    Attributes
    ----------
    at
        When it was asked, in seconds since the epoch.
    query
        The words; "" where pages were opened without any.
    shown
        Normalised URLs in the order in which they were shown, the best first.
    clicked
        Those that were opened; some may be among them that were not shown.
    id
        Tells questions apart that are alike in all else; of a click, the question that it follows.
    first
        Place of the first of `shown`, from 0; more where an answer was continued.
    places
        Where each of `clicked` stood, shape as `clicked`; () where `shown` tells it, or nobody does. With nothing asked
        or shown, the line is a click that follows an earlier question.
    """

    at: float
    query: str = ""
    shown: tuple[str, ...] = ()
    clicked: tuple[str, ...] = ()
    id: str = ""
    first: int = 0
    places: tuple[int, ...] = ()

    @property
    def follows(self) -> bool:
        """Whether it is a click that follows an earlier question."""
        return bool(self.places) and not (self.shown or self.query)


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Question)


class Tail:
    """Reads a file of questions from its beginning, and then what is added to it; writes nothing.

    Parameters
    ----------
    path
        Of the file, which need not be there yet.

    Attributes
    ----------
    size, damaged
        Bytes read so far, and lines among them that are no questions.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._node = self._length = 0  # of the file when it was read last
        self.size = self.damaged = 0

    def more(self) -> bool:
        """Whether there is something to read, or another file than before; as cheap as asking for its size."""
        try:
            about = self._path.stat()
        except OSError:
            return self._node != 0
        return about.st_size != self._length or about.st_ino != self._node

    def read(self) -> tuple[bool, list[Question]]:
        """Return whether all that was read before is to be forgotten, and the questions that are new.

        That is so where the file was replaced, cut or taken away.
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
        """Yield every question from here to the end of the file."""
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
                except (msgspec.MsgspecError, UnicodeDecodeError):  # what a crash left, and somebody has ended since
                    self.damaged += 1
        return found


class UsageWriter:
    """Adds questions to a crawl, each once.

    Parameters
    ----------
    directory
        Of the crawl.

    Attributes
    ----------
    added, again
        Questions that were added, and those that were there already.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / USAGE_FILE
        self._tail = Tail(self._path)
        self._known: set[int] = set()
        self.added = self.again = 0

    def add(self, questions: Iterable[Question], *, once: bool = True) -> None:
        """Add some; when it returns they are on the disk.

        Parameters
        ----------
        questions
            In any order.
        once
            Whether to leave out those that are there already, for which the whole file is read.

        Raises
        ------
        NoRoomError, StoreError
            They could not be written; then none of them is there.
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

    def _fresh(self, lines: list[bytes]) -> list[bytes]:
        """Return those lines that are not known yet, others' additions to the file included."""
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
    """Open a file to add to; nobody else does until it is closed."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _append(file: int, lines: list[bytes]) -> None:
    """Add lines, all or none, and see them to the disk."""
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
