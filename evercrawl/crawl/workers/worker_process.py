"""One worker process as the owner of the crawl sees it: what it was given, and what comes back."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from typing import Final

import msgspec

from evercrawl.crawl.workers.frames import Inbox, Outbox
from evercrawl.model.stored.contents import Body, Content
from evercrawl.model.stored.reading import Fetched

BUFFER_BYTES: Final = 1 << 20  # what the kernel holds each way, so that neither side waits while the other is busy
_CODE: Final = (
    "import sys; sys.path[:] = sys.argv[4:]; "
    "from evercrawl.crawl.workers.worker import main; main(*map(int, sys.argv[1:4]))"
)


class WorkerProcess:
    """A process that reads bodies, from its start to its end.

    Parameters
    ----------
    longest_bytes
        Cap on the size of a body.
    more
        What its environment has beside the owner's.

    Attributes
    ----------
    given, given_bytes
        Bodies that it has yet to answer, the oldest first; and what they take together.
    ready
        Whether it has said that it reads.
    suspected
        Whether what it was given has ended a process before; it is given nothing else meanwhile.
    watched
        Whether somebody waits for the channel to take more.
    moved_at
        When it last answered, or was given something to do: seconds of the monotonic clock.

    Raises
    ------
    OSError
        No process can be started.
    """

    def __init__(self, longest_bytes: int, more: Mapping[str, str] | None = None) -> None:
        self.given: deque[tuple[Fetched, int]] = deque()
        self.given_bytes = 0
        self.ready, self.suspected, self.watched = False, False, False
        self.moved_at = 0.0
        self._inbox, self._outbox = Inbox(), Outbox()
        self._decoder = msgspec.msgpack.Decoder(Content | None)
        self.channel, theirs = socket.socketpair()
        try:
            for end in (self.channel, theirs):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
            self.channel.setblocking(False)
            self._process = _start(theirs.fileno(), longest_bytes, more or {})
        except OSError:
            self.channel.close()
            raise
        finally:
            theirs.close()

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self._process.pid

    @property
    def unsent(self) -> bool:
        """Whether there is something that the channel has not taken yet."""
        return len(self._outbox) > 0

    def give(self, fetched: Fetched, body: Body, now: float) -> None:
        """Give it one more body to read; `send` sends it."""
        if not self.given:
            self.moved_at = now
        size = self._outbox.put(body)
        self.given.append((fetched, size))
        self.given_bytes += size

    def send(self) -> None:
        """Send what the channel takes; that nobody is at its other end is found out by `receive`."""
        try:
            self._outbox.send(self.channel)
        except OSError:
            self._outbox = Outbox()

    def receive(self, now: float) -> list[tuple[Fetched, Content]]:
        """Return what has been answered.

        Raises
        ------
        EOFError
            It has ended.
        """
        answers: list[tuple[Fetched, Content]] = []
        try:
            self._inbox.receive(self.channel)
            while (message := self._inbox.take()) is not None:
                content = self._decoder.decode(message)
                if content is None:
                    self.ready = True
                    continue
                fetched, size = self.given.popleft()
                self.given_bytes -= size
                answers.append((fetched, content))
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise EOFError from error
        if answers:
            self.moved_at, self.suspected = now, False
        return answers

    def end(self, patience_s: float = 0.0) -> str:
        """Wait for its end, and then bring it about; return how it ended."""
        self.channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience_s)
        self._process.kill()
        code = self._process.wait()
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _start(channel: int, longest_bytes: int, more: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a process of its own, which shares neither memory nor open files, and hears no Ctrl-C."""
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-c", _CODE, str(channel), str(os.getpid()), str(longest_bytes), *sys.path],
        pass_fds=[channel], stdin=nothing, stdout=nothing, stderr=nothing, process_group=0,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **more},
    )  # fmt: skip
