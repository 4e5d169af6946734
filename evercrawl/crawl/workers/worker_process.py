"""One worker process as its owner sees it: the bodies that it was given, and its answers."""

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

BUFFER_BYTES: Final = 1 << 20  # buffer in the kernel each way, so that neither side waits while the other is busy
_CODE: Final = (
    "import sys; sys.path[:] = sys.argv[4:]; "
    "from evercrawl.crawl.workers.worker import main; main(*map(int, sys.argv[1:4]))"
)


class WorkerProcess:
    """A process that parses bodies, from its start to its end.

    Parameters
    ----------
    longest_bytes
        The limit on the size of a body.
    more
        Environment variables in addition to the owner's.

    Attributes
    ----------
    given, given_bytes
        The bodies that it has not answered yet, the oldest first; and their total size.
    ready
        Whether it has reported that it is ready.
    suspected
        Whether the body that it was given has ended a process before; it is given no other meanwhile.
    watched
        Whether the event loop watches for room in the channel.
    moved_at
        When it last answered, or got work while idle, in seconds of the monotonic clock.

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
        """The number of the process."""
        return self._process.pid

    @property
    def unsent(self) -> bool:
        """Whether there is data that the channel has not taken yet."""
        return len(self._outbox) > 0

    def give(self, fetched: Fetched, body: Body, now: float) -> None:
        """Queue one more body for it; `send` sends it."""
        if not self.given:
            self.moved_at = now
        size = self._outbox.put(body)
        self.given.append((fetched, size))
        self.given_bytes += size

    def send(self) -> None:
        """Send what the channel takes; `receive` finds out whether the other end is closed."""
        try:
            self._outbox.send(self.channel)
        except OSError:
            self._outbox = Outbox()

    def receive(self, now: float) -> list[tuple[Fetched, Content]]:
        """Return the new answers.

        Raises
        ------
        EOFError
            The process has ended.
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
        """Wait for the process to end, then kill it; return how it ended."""
        self.channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience_s)
        self._process.kill()
        code = self._process.wait()
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _start(channel: int, longest_bytes: int, more: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a process that shares neither memory nor open files with this one, and receives no Ctrl-C."""
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-c", _CODE, str(channel), str(os.getpid()), str(longest_bytes), *sys.path],
        pass_fds=[channel], stdin=nothing, stdout=nothing, stderr=nothing, process_group=0,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **more},
    )  # fmt: skip
