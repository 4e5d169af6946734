"""The pool of worker processes: distributes bodies, starts processes, and replaces those that end.

A process that ends, or reads one body for more than `LATE_S`, is replaced. Its unanswered bodies are suspects: one
process more than usual parses them, one at a time, while the others go on. If it ends while a suspect is its only
body, or parses it for too long, this is an error of that page, and the crawl continues.

Later bodies of a site that had a slow one are parsed in this way too, at most `MOST_OF_A_SITE` of them wait, and after
two that hung each gets no more than `LATE_S` for ten minutes (`SlowSites`).
"""

import asyncio
import select
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from evercrawl.crawl.workers.slow_sites import SlowSites
from evercrawl.crawl.workers.worker_process import WorkerProcess
from evercrawl.model.stored.contents import Body, Content
from evercrawl.model.stored.reading import Fetched
from evercrawl.parse.documents.base import kind_of
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname

WINDOW: Final = 64  # bodies given to a process at a time: enough while the crawl is busy with other work
WINDOW_BYTES: Final = 2 << 20  # or bytes of bodies
GROWN_S: Final = 0.5  # between two starts of processes because of the backlog
STARTS: Final = 3  # failed starts in a row, after which no more are tried for a while
TRIED_AGAIN_S: Final = 60.0
APART_S: Final = 60.0  # for which the additional process stays without such a body
TOLD_S: Final = 10.0  # for which the end of a process is reported
LOOKED_S: Final = 1.0  # between two looks; a longer time is this process's own
LATE_S: Final = 2.0  # for one body, after which it is parsed apart from the others
MOST_OF_A_SITE: Final = 16  # bodies of a slow site that wait to be parsed apart
MOST_APART: Final = 128  # bodies that wait so
MOST_APART_BYTES: Final = 16 << 20
_REFUSED: Final = "it was not parsed, because other bodies of its site take too long"


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
    set_apart
        Called with a body that may take long, and has left the order of the others.
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
        set_apart: Callable[[Fetched], None],
        heard: Callable[[], None] | None,
        *,
        longest_bytes: int,
        hang_s: float,
        environment: Mapping[str, str] | None,
    ) -> None:
        self._count, self._body_of, self._learn, self._heard = count, body_of, learn, heard
        self._set_apart, self._slow_sites = set_apart, SlowSites()
        self._longest_bytes, self._hang_s, self._environment = longest_bytes, hang_s, environment
        self._processes: list[WorkerProcess] = []
        self._backlog: deque[Fetched] = deque()  # given to no process yet
        self._suspects: deque[Fetched] = deque()  # the same; to be parsed one at a time
        self._looked_at, self._apart_at = time.monotonic(), float("-inf")
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
        """Queue a body; `look` gives it to a process, unless its site has had others that took too long."""
        if self._slow_sites.any and self._slow_sites.slow(site := _site(fetched)):
            self._add_apart(fetched, site)
        else:
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
            process.moved_at += max(now - self._looked_at - LOOKED_S, 0.0)  # it may have waited for this one
            self._check(process, now)
        self._looked_at = now
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
        slow = [fetched for fetched in self._suspects if self._slow_sites.slow(_site(fetched))]
        for fetched in slow:  # they would hold up the caller
            self._learn(fetched, Content(error="parser", detail=_REFUSED))
        left = [*(fetched for fetched in self._suspects if fetched.unread), *self._backlog]
        self._suspects.clear()
        self._backlog.clear()
        return left

    def grow(self) -> None:
        """Start one more process, if the limit allows it."""
        self._grown_at = time.monotonic()
        if sum(not process.suspected for process in self._processes) < self._count and not self.given_up:
            self._start()

    @property
    def given_up(self) -> bool:
        """Whether so many starts failed that no other is tried just now."""
        return self._failures >= STARTS and time.monotonic() < self._failed_at + TRIED_AGAIN_S

    def close(self) -> None:
        """End the processes; pending bodies are lost."""
        self._suspects.clear()
        self._backlog.clear()
        while self._processes:
            self._part(self._processes[-1])

    def _add_apart(self, fetched: Fetched, site: tuple[str, bool]) -> None:
        """Queue a body of a slow site, or refuse it."""
        self._set_apart(fetched)
        of_site = sum(_site(other) == site for other in self._suspects)
        size_bytes = sum(len(other.exchange.wire) for other in self._suspects)
        full = of_site >= MOST_OF_A_SITE or len(self._suspects) >= MOST_APART or size_bytes >= MOST_APART_BYTES
        if full:
            self._learn(fetched, Content(error="parser", detail=_REFUSED))
        else:
            self._suspects.append(fetched)

    def _check(self, process: WorkerProcess, now: float) -> None:
        """Note a site that is slow, and end a process that parses one body for too long."""
        if not process.given or now <= process.moved_at + min(LATE_S, self._hang_s):
            return
        slow = process.given[0][0]
        if (process.suspected or is_document(slow)) and not self._slow_sites.slow(_site(slow)):
            self._slow_sites.note(_site(slow))  # of other bodies, the first may have been answered already
            self._sort()
        patient = process.suspected and not self._slow_sites.impatient(_site(slow))
        longest_s = self._hang_s if patient else min(LATE_S, self._hang_s)
        if now > process.moved_at + longest_s:
            self._part(process)
            self._bury(process, f"read one page for more than {longest_s:g} s")

    def _sort(self) -> None:
        """Set the bodies of slow sites apart from the others that wait."""
        waiting, self._backlog = self._backlog, deque()
        for fetched in waiting:
            self.add(fetched)

    def _hand_out(self, now: float) -> None:
        ready = [process for process in self._processes if process.ready]
        apart = next((process for process in self._processes if process.suspected), None)
        if self._suspects and apart is None:
            apart = next((one for one in ready if not one.given), None)
            if apart is not None and (len(ready) > 1 or not self._backlog or self.given_up):
                apart.suspected = True
                self._apart_at = now
                self._give(apart, self._suspects.popleft(), now)
            elif len(self._processes) <= self._count and len(ready) == len(self._processes) and not self.given_up:
                self._start()
            elif len(ready) > 1 or (ready and self.given_up):
                ready.remove(min(ready, key=lambda one: len(one.given)))  # it will soon be free for a suspect
        elif apart is None and len(self._processes) > self._count and now > self._apart_at + APART_S:
            idle = next((one for one in ready if not one.given), None)
            if idle is not None:
                self._part(idle)
                ready.remove(idle)
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
            self._slow_sites.hung(_site(guilty))
            self._tell(f"a worker process {why} on {guilty.exchange.request.url}; this counts as an error of the page")
            self._learn(guilty, Content(error="parser", detail=f"two worker processes failed on it; the last {why}"))
        else:
            self._tell(f"a worker process {why}; another takes its place")
            for fetched in reversed(unanswered):  # the oldest is the likeliest to blame, so it comes last
                self._set_apart(fetched)
                self._suspects.append(fetched)
        if len(self._processes) < self._count or self._suspects:
            self._start()
        self._sort()

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


def _site(fetched: Fetched) -> tuple[str, bool]:
    """Return the site of a body, and whether it is a document."""
    return found_site(hostname(fetched.exchange.request.url)), is_document(fetched)


def is_document(fetched: Fetched) -> bool:
    """Whether a body may only be parsed in other processes, because its parser may end the process."""
    exchange = fetched.exchange
    mime = exchange.headers.get("content-type", "").partition(";")[0].strip().lower()
    if mime in ("text/html", "") or exchange.rendered is not None:
        return False
    start = exchange.wire if exchange.packed else exchange.body
    return bool(kind_of(mime, exchange.request.url, start[:8]))


def _free(process: WorkerProcess) -> bool:
    if process.suspected:
        return False
    return len(process.given) < WINDOW and process.given_bytes < WINDOW_BYTES
