"""The pool of worker processes: distributes bodies, starts processes, and replaces those that end.

A process that ends, or reads one body for too long, is replaced. Its unanswered bodies are suspects: they are given
to other processes one at a time. If a process ends while a suspect is its only body, this is an error of that page,
and the crawl continues.
"""

import asyncio
import select
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from evercrawl.crawl.workers.worker_process import WorkerProcess
from evercrawl.model.stored.contents import Body, Content
from evercrawl.model.stored.reading import Fetched

WINDOW: Final = 64  # bodies given to a process at a time: enough while the crawl is busy with other work
WINDOW_BYTES: Final = 2 << 20  # or bytes of bodies
GROWN_S: Final = 0.5  # between two starts of processes because of the backlog
STARTS: Final = 3  # failed starts in a row, after which no more are tried for a while
TRIED_AGAIN_S: Final = 60.0
TOLD_S: Final = 10.0  # for which the end of a process is reported


class Crew:
    """Up to `count` worker processes, and the bodies that they are to parse.

    Parameters
    ----------
    count
        The highest number of processes.
    body_of
        Returns the body of an answer with what is needed to parse it.
    learn
        Called with the content of a body, once for each that was added.
    heard
        Called by the running event loop when there are answers; without it, the caller has to `wait`.
    longest_bytes
        The limit on the size of a body.
    hang_s
        The time for one body after which a process counts as hanging.
    environment
        Environment variables of the processes in addition to our own.
    """

    def __init__(
        self,
        count: int,
        body_of: Callable[[Fetched], Body],
        learn: Callable[[Fetched, Content], None],
        heard: Callable[[], None] | None,
        *,
        longest_bytes: int,
        hang_s: float,
        environment: Mapping[str, str] | None,
    ) -> None:
        self._count, self._body_of, self._learn, self._heard = count, body_of, learn, heard
        self._longest_bytes, self._hang_s, self._environment = longest_bytes, hang_s, environment
        self._processes: list[WorkerProcess] = []
        self._backlog: deque[Fetched] = deque()  # given to no process yet
        self._suspects: deque[Fetched] = deque()  # the same; a process has ended on each
        self._failures, self._failed_at, self._grown_at = 0, float("-inf"), float("-inf")
        self._told, self._told_until = "", float("-inf")

    @property
    def starting(self) -> bool:
        """Whether there is any process, ready or not."""
        return bool(self._processes)

    @property
    def ready(self) -> bool:
        """Whether any process is ready."""
        return any(process.ready for process in self._processes)

    @property
    def message(self) -> str:
        """What is wrong just now; "" if nothing is."""
        return self._told if time.monotonic() < self._told_until else ""

    @property
    def pids(self) -> list[int]:
        """The process numbers, including those of processes that are starting."""
        return [process.pid for process in self._processes]

    def add(self, fetched: Fetched) -> None:
        """Queue a body; `look` gives it to a process."""
        self._backlog.append(fetched)

    def look(self) -> None:
        """Receive answers, give the processes more bodies, and check that all of them work."""
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
            for fetched, content in answers:
                self._learn(fetched, content)
            if process.given and now > process.moved_at + self._hang_s:
                self._part(process)
                self._bury(process, f"read one page for more than {self._hang_s:g} s")
        self._hand_out(now)
        if self._backlog and now > self._grown_at + GROWN_S and all(process.ready for process in self._processes):
            self.grow()

    def wait(self, timeout_s: float) -> None:
        """Wait until a process has an answer or takes more data, at most `timeout_s`."""
        poll = select.poll()
        for process in self._processes:
            poll.register(process.channel, select.POLLIN | (select.POLLOUT if process.unsent else 0))
        poll.poll(1000 * timeout_s)

    def leave(self) -> list[Fetched]:
        """Return and drop the bodies that no process was given; the caller parses them."""
        left = [*self._suspects, *self._backlog]
        self._suspects.clear()
        self._backlog.clear()
        return left

    def grow(self) -> None:
        """Start one more process, if the limit allows it."""
        self._grown_at = time.monotonic()
        if len(self._processes) < self._count and not self.given_up:
            self._start()

    @property
    def given_up(self) -> bool:
        """Whether so many starts failed that no other is tried just now."""
        return self._failures >= STARTS and time.monotonic() < self._failed_at + TRIED_AGAIN_S

    def close(self) -> None:
        """End the processes; pending bodies are lost."""
        while self._processes:
            self._part(self._processes[-1])

    def _hand_out(self, now: float) -> None:
        ready = [process for process in self._processes if process.ready]
        while self._suspects and (idle := next((one for one in ready if not one.given), None)) is not None:
            idle.suspected = True
            self._give(idle, self._suspects.popleft(), now)
        if self._suspects:
            ready = ready[1:]  # the first will soon be free for the next suspect
        while self._backlog and (free := [one for one in ready if _free(one)]):
            self._give(min(free, key=lambda one: len(one.given)), self._backlog.popleft(), now)
        for process in self._processes:
            if process.unsent:
                process.send()
            self._watch(process)

    def _give(self, process: WorkerProcess, fetched: Fetched, now: float) -> None:
        process.give(fetched, self._body_of(fetched), now)

    def _start(self) -> None:
        try:
            process = WorkerProcess(self._longest_bytes, self._environment)
        except OSError as error:
            self._failed(error.strerror or str(error))
            return
        self._processes.append(process)
        if self._heard is not None:
            asyncio.get_running_loop().add_reader(process.channel, self._heard)

    def _watch(self, process: WorkerProcess) -> None:
        """Have the event loop notify us when there is room for unsent data."""
        if self._heard is None or process.unsent == process.watched:
            return
        loop, process.watched = asyncio.get_running_loop(), process.unsent
        if process.watched:
            loop.add_writer(process.channel, self._heard)
        else:
            loop.remove_writer(process.channel)

    def _part(self, process: WorkerProcess, patience_s: float = 0.0) -> str:
        """End a process; return how it ended."""
        self._processes.remove(process)
        if self._heard is not None:
            loop = asyncio.get_running_loop()
            loop.remove_reader(process.channel)
            loop.remove_writer(process.channel)
        return process.end(patience_s)

    def _bury(self, process: WorkerProcess, why: str) -> None:
        """Give the bodies of an ended process to others."""
        if not process.ready:
            self._failed(f"it {why}")
            return
        unanswered = [fetched for fetched, _ in process.given]
        if process.suspected and unanswered:
            guilty = unanswered[0]
            self._tell(f"a worker process {why} on {guilty.exchange.request.url}; this counts as an error of the page")
            self._learn(guilty, Content(error="parser", detail=f"two worker processes failed on it; the last {why}"))
        else:
            self._tell(f"a worker process {why}; another takes its place")
            self._suspects.extend(unanswered)
        self._start()

    def _failed(self, why: str) -> None:
        """Count a failed start, and try another."""
        self._failures, self._failed_at = self._failures + 1, time.monotonic()
        if self._failures < STARTS:
            self._start()
        else:
            others = "the others continue" if self._processes else "the crawl parses pages itself"
            self._tell(f"no worker process can be started: {why}; {others}", TRIED_AGAIN_S)

    def _tell(self, what: str, for_s: float = TOLD_S) -> None:
        self._told, self._told_until = what, time.monotonic() + for_s


def _free(process: WorkerProcess) -> bool:
    if process.suspected:
        return False
    return len(process.given) < WINDOW and process.given_bytes < WINDOW_BYTES
