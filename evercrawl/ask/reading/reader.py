"""A pool of child processes that read bodies within limits of time and memory; results are in order."""

import contextlib
import os
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import Final, Self, TypeVar

import msgspec

from evercrawl.ask.reading.child import LENGTH
from evercrawl.ask.reading.readable import ReadContent, ReadRequest, kind_of

MOST_S: Final = 10.0
"""Time limit per body; a page whose main content takes longer is read whole, within the same limit."""

_START_S: Final = 60.0  # time limit for the start of a process, on a busy machine

T = TypeVar("T")


class ContentReader:
    """A pool of processes that read bodies.

    If a body crashes its process or exceeds the time limit, the result is an error, and the process is replaced.

    Parameters
    ----------
    processes
        Number of processes; by default one per core, up to four.
    most_s
        Time limit per body, see `MOST_S`.

    Examples
    --------
    >>> with ContentReader(1) as reader:
    ...     reader.read(ReadRequest(b"<h1>Tea</h1>", "http://example.org/", "text/html")).content
    '# Tea'
    """

    def __init__(self, processes: int = 0, most_s: float = MOST_S) -> None:
        self._count = processes or min(len(os.sched_getaffinity(0)), 4)
        self._most_s = most_s
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        for _ in range(self._count):
            self._idle.put(_Process())
        self._threads = ThreadPoolExecutor(self._count)

    def read(self, request: ReadRequest) -> ReadContent:
        """Return the content of one body, or the error."""
        process = self._idle.get()
        try:
            try:
                return process.ask(request, self._most_s)
            except _FailedError as error:
                if request.whole or kind_of(request.mime, request.body, request.url) != "html":
                    return ReadContent(error=str(error))
            try:
                return process.ask(msgspec.structs.replace(request, whole=True), self._most_s)
            except _FailedError as error:
                return ReadContent(error=str(error))
        finally:
            self._idle.put(process)

    def each(self, requests: Iterable[tuple[T, ReadRequest | None]]) -> Iterator[tuple[T, ReadContent]]:
        """Yield the contents of bodies in order, each with its companion; for None, empty content."""
        waiting: deque[tuple[T, Future[ReadContent] | None]] = deque()
        for mine, request in requests:
            waiting.append((mine, None if request is None else self._threads.submit(self.read, request)))
            if len(waiting) > 2 * self._count:
                yield _done(waiting.popleft())
        while waiting:
            yield _done(waiting.popleft())

    def close(self) -> None:
        """End the processes."""
        self._threads.shutdown(cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes."""
        self.close()


def _done(pair: tuple[T, Future[ReadContent] | None]) -> tuple[T, ReadContent]:
    mine, future = pair
    return mine, ReadContent() if future is None else future.result()


class _FailedError(Exception):
    """A process died, or exceeded the time limit."""


class _Process:
    """One process, started at its first request."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: ReadRequest, most_s: float) -> ReadContent:
        """Return the process's answer."""
        patience_s = most_s
        if self._process is None:
            self._process, patience_s = _begun(), most_s + _START_S
            self._exchange(ReadRequest(b"", "", "text/plain"), _START_S)
            patience_s = most_s
        return self._exchange(request, patience_s)

    def end(self) -> None:
        """Kill the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.wait()

    def _exchange(self, request: ReadRequest, most_s: float) -> ReadContent:
        process = self._process
        assert process is not None, "it was begun"
        assert process.stdin is not None, "it has pipes"
        data = msgspec.msgpack.encode(request)
        until = time.monotonic() + most_s
        try:
            process.stdin.write(LENGTH.pack(len(data)) + data)
            process.stdin.flush()
            size = LENGTH.unpack(self._received(LENGTH.size, until))[0]
            return msgspec.msgpack.decode(self._received(size, until), type=ReadContent)
        except TimeoutError:
            self.end()
            raise _FailedError(f"it takes more than {most_s:g} s to read") from None
        except (OSError, EOFError):
            self.end()
            raise _FailedError("the process that read it died") from None

    def _received(self, size: int, until: float) -> bytes:
        assert self._process is not None, "it was begun"
        assert self._process.stdout is not None, "it has pipes"
        file, parts = self._process.stdout.fileno(), list[bytes]()
        while size:
            if not select.select([file], [], [], max(until - time.monotonic(), 0.0))[0]:
                raise TimeoutError
            if not (part := os.read(file, min(size, 1 << 20))):
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _begun() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evercrawl.ask.reading.child"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
