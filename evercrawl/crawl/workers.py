"""Bodies read by other processes, while this one fetches and remembers.

There is no process before there is work for it. Where reading takes more than a tenth of the time, a first one is
started, and one more whenever bodies wait although all have enough to do; until one says that it is ready, bodies are
read here. What comes out, and in which order, is the same however many there are.

A process that ends, or reads one body for too long, is replaced. What it had not answered is suspected: these bodies
are given to another, one by one. One that ends a process while it is all that the process has, is an error of that
page, and the crawl goes on.
"""

from __future__ import annotations

import asyncio
import math
import select
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from evercrawl.crawl.contents import Content, attempted
from evercrawl.crawl.parsers import Inline
from evercrawl.crawl.reading import understand
from evercrawl.crawl.worker_process import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evercrawl.crawl.reading import Reading

WINDOW: Final = 64  # bodies that a process has at once: enough to last while the owner does something else
WINDOW_BYTES: Final = 2 << 20  # or so much of them
MOST_BYTES: Final = 64 << 20  # of bodies that wait; beyond, the crawl waits
BUSY_S: Final = 0.1  # of the last second spent reading, from which on another process pays
GROWN_S: Final = 0.5  # time between two processes started because there is too much to do
HANG_S: Final = 30.0  # one body takes no longer
STARTS: Final = 3  # in a row that come to nothing; then the owner reads by itself
TOLD_S: Final = 10.0  # for how long the end of a process is told
_SETTLING_S: Final = 0.002
_LOOK_S: Final = 0.2


class Workers:
    """Reads bodies in up to `count` other processes.

    Parameters
    ----------
    count
        Processes, at most.
    agent, text
        As for `Inline`.
    longest_bytes
        Cap on the size of a body.
    wake
        Called when there is something to be `done`.
    waiting
        Whether `done` waits until all that went in can come out. So it is the same crawl as one that reads here, where
        time does not pass meanwhile; and no event loop need watch the processes.
    busy_s, hang_s
        Seconds of the last one spent reading that start a process; seconds after which a process hangs. Of real time.
    environment
        What that of the processes has beside our own.

    Attributes
    ----------
    message
        What is wrong with the processes just now, "" if nothing is.
    """

    def __init__(
        self,
        count: int,
        agent: str,
        *,
        text: bool,
        longest_bytes: int,
        wake: Callable[[], None] = lambda: None,
        waiting: bool = False,
        busy_s: float = BUSY_S,
        hang_s: float = HANG_S,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._count, self._longest_bytes, self._environment = count, longest_bytes, environment
        self._inline, self._wake, self._waiting = Inline(agent, text=text), wake, waiting
        self._busy_limit_s, self._hang_s = busy_s, hang_s
        self._line: deque[Reading] = deque()  # all that is pending, in order
        self._backlog: deque[Reading] = deque()  # unread, and given to nobody
        self._suspects: deque[Reading] = deque()  # the same; each has seen a process end
        self._unread = 0
        self._bytes = 0
        self._processes = list[WorkerProcess]()
        self._failures = 0
        self._busy_s, self._busy_at, self._grown_at = 0.0, time.monotonic(), float("-inf")
        self._told, self._told_until = "", float("-inf")

    @property
    def pending(self) -> int:
        """Return how many readings have gone in and have yet to come out."""
        return len(self._line)

    @property
    def behind(self) -> bool:
        """Whether so many bodies wait that no more should be fetched."""
        return self._bytes > MOST_BYTES

    @property
    def message(self) -> str:
        """Return what is wrong with the processes just now, "" if nothing is."""
        return self._told if time.monotonic() < self._told_until else ""

    @property
    def pids(self) -> list[int]:
        """Return the numbers of the processes, those that are starting included."""
        return [process.pid for process in self._processes]

    def submit(self, reading: Reading) -> None:
        """Take a reading in, and have its body read, if there is one to be read."""
        self._line.append(reading)
        if not reading.unread:
            return
        self._unread += 1
        self._bytes += _size(reading)
        self._grow()
        if self._reads_here:
            self._read_here(reading)
        else:
            self._backlog.append(reading)

    def done(self) -> list[Reading]:
        """Return the readings that are understood, each once, in the order in which they went in."""
        self._look()
        while self._waiting and self._unread:
            self._wait()
            self._look()
        done: list[Reading] = []
        while self._line and not self._line[0].unread:
            done.append(self._line.popleft())
        return done

    async def settle(self) -> None:
        """Return once nothing is unread any more."""
        self._look()
        while self._unread:
            if self._waiting:
                self._wait()
            else:
                await asyncio.sleep(_SETTLING_S)
            self._look()

    def close(self) -> None:
        """End the processes; what is pending is lost."""
        while self._processes:
            self._part(self._processes[-1])

    # Give and take

    def _look(self) -> None:
        """Hear what the processes say, give them more, and see whether all are well."""
        now = time.monotonic()
        for process in tuple(self._processes):
            new = not process.ready
            try:
                answers = process.receive(now)
            except EOFError:
                self._bury(process, f"ended ({self._part(process, patience_s=1.0)})")
                continue
            if new and process.ready:
                self._failures = 0
            for reading, content in answers:
                self._take(reading, content)
            if process.given and now > process.moved_at + self._hang_s:
                self._part(process)
                self._bury(process, f"read one page for more than {self._hang_s:g} s")
        self._hand_out(now)
        self._grow()

    def _hand_out(self, now: float) -> None:
        ready = [process for process in self._processes if process.ready]
        while self._suspects and (idle := next((one for one in ready if not one.given), None)) is not None:
            idle.suspected = True
            self._give(idle, self._suspects.popleft(), now)
        if self._suspects:
            ready = ready[1:]  # the first has no more to do soon
        while self._backlog and (free := [one for one in ready if _free(one)]):
            self._give(min(free, key=lambda one: len(one.given)), self._backlog.popleft(), now)
        for process in self._processes:
            if process.unsent:
                process.send()
            self._watch(process)

    def _give(self, process: WorkerProcess, reading: Reading, now: float) -> None:
        process.give(reading, self._inline.body(reading), now)

    def _take(self, reading: Reading, content: Content) -> None:
        self._unread -= 1
        self._bytes -= _size(reading)
        understand(reading, content)

    @property
    def _reads_here(self) -> bool:
        """Whether nobody else reads; on a clock that does not go on meanwhile, those that start are waited for."""
        return not (self._processes if self._waiting else any(process.ready for process in self._processes))

    def _read_here(self, reading: Reading) -> None:
        began = time.monotonic()
        self._take(reading, attempted(self._inline.body(reading)))
        ended = time.monotonic()
        self._busy_s = self._busy_s * math.exp(self._busy_at - began) + ended - began
        self._busy_at = began

    def _wait(self) -> None:
        poll = select.poll()
        for process in self._processes:
            poll.register(process.channel, select.POLLIN | (select.POLLOUT if process.unsent else 0))
        poll.poll(1000 * _LOOK_S)

    def _heard(self) -> None:
        self._look()
        if self._line and not self._line[0].unread:
            self._wake()

    # Begin and end

    def _grow(self) -> None:
        """Start a process, where that pays."""
        if len(self._processes) >= self._count or not all(process.ready for process in self._processes):
            return
        if self._failures >= STARTS:
            return
        now = time.monotonic()
        if self._processes:
            pays = bool(self._backlog) and now > self._grown_at + GROWN_S
        else:
            pays = self._busy_s >= self._busy_limit_s or bool(self._suspects)
        if pays:
            self._grown_at = now
            self._start()

    def _start(self) -> None:
        try:
            process = WorkerProcess(self._longest_bytes, self._environment)
        except OSError as error:
            self._failed(error.strerror or str(error))
            return
        self._processes.append(process)
        if not self._waiting:
            asyncio.get_running_loop().add_reader(process.channel, self._heard)

    def _watch(self, process: WorkerProcess) -> None:
        """Have the event loop tell of room for what has yet to be sent."""
        if self._waiting or process.unsent == process.watched:
            return
        loop, process.watched = asyncio.get_running_loop(), process.unsent
        if process.watched:
            loop.add_writer(process.channel, self._heard)
        else:
            loop.remove_writer(process.channel)

    def _part(self, process: WorkerProcess, patience_s: float = 0.0) -> str:
        """End a process; return how it ended."""
        self._processes.remove(process)
        if not self._waiting:
            loop = asyncio.get_running_loop()
            loop.remove_reader(process.channel)
            loop.remove_writer(process.channel)
        return process.end(patience_s)

    def _bury(self, process: WorkerProcess, why: str) -> None:
        """Have the work of a process that ended done by others."""
        if not process.ready:
            self._failed(f"it {why}")
            return
        unanswered = [reading for reading, _ in process.given]
        if process.suspected and unanswered:
            guilty = unanswered[0]
            self._tell(f"a process that reads pages {why} on {guilty.exchange.request.url}; this counts as an error")
            self._take(guilty, Content(error="parser", detail=f"two processes came to grief on it; the last {why}"))
        else:
            self._tell(f"a process that reads pages {why}; another goes on")
            self._suspects.extend(unanswered)
        self._start()

    def _failed(self, why: str) -> None:
        """Take note of a process that came to nothing; if none does, read here."""
        self._failures += 1
        if self._failures < STARTS:
            self._start()
            return
        if not self._processes:
            self._tell(f"no process that reads pages can be started: {why}; the crawl reads them itself", math.inf)
            for reading in (*self._suspects, *self._backlog):
                self._read_here(reading)
            self._suspects.clear()
            self._backlog.clear()

    def _tell(self, what: str, for_s: float = TOLD_S) -> None:
        self._told, self._told_until = what, time.monotonic() + for_s


def _free(process: WorkerProcess) -> bool:
    if process.suspected:
        return False
    return len(process.given) < WINDOW and process.given_bytes < WINDOW_BYTES


def _size(reading: Reading) -> int:
    return len(reading.exchange.wire) + len(reading.exchange.body)
