"""Bodies read by other processes, while this one fetches and remembers.

There is no process before there is work for it. Where reading takes more than a twenty-fifth of the time, a first one
is started, and one more whenever bodies wait although all have enough to do; until one says that it is ready, bodies
are read here. What comes out, and in which order, is the same however many there are.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from evercrawl.arrays.hasher import Hasher
from evercrawl.crawl.visit.parsers import Inline
from evercrawl.crawl.workers.crew import Crew
from evercrawl.model.stored.contents import Content, attempted
from evercrawl.model.stored.reading import Fetched
from evercrawl.parse.documents.base import kind_of

MOST_BYTES: Final = 64 << 20  # of bodies that wait; beyond, the crawl waits
BUSY_S: Final = 0.04  # of the last second spent reading, from which on another process pays
HANG_S: Final = 30.0  # one body takes no longer
_SETTLING_S: Final = 0.002
_LOOK_S: Final = 0.2


class Workers:
    """Reads bodies in up to `count` other processes.

    Parameters
    ----------
    count, longest_bytes, environment
        As for `Crew`.
    agent, hasher, text, requisites
        As for `Inline`.
    wake
        Called when there is something to be `done`.
    waiting
        Whether `done` waits until all that went in can come out. So it is the same crawl as one that reads here, where
        time does not pass meanwhile; and no event loop need watch the processes.
    busy_s, hang_s
        Seconds of the last one spent reading that start a process; seconds after which a process hangs. Of real time.
    """

    def __init__(
        self,
        count: int,
        agent: str,
        hasher: Hasher,
        *,
        text: bool,
        requisites: bool = False,
        longest_bytes: int,
        wake: Callable[[], None] = lambda: None,
        waiting: bool = False,
        busy_s: float = BUSY_S,
        hang_s: float = HANG_S,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._inline, self._wake, self._waiting = Inline(agent, hasher, text=text, requisites=requisites), wake, waiting
        heard = None if waiting else self._heard
        self._crew = Crew(
            count, self._inline.body, self._learn, heard,
            longest_bytes=longest_bytes, hang_s=hang_s, environment=environment,
        )  # fmt: skip
        self._line: deque[Fetched] = deque()  # all that is pending, in order
        self._unread, self._bytes = 0, 0
        self._busy_limit_s, self._busy_s, self._busy_at = busy_s, 0.0, time.monotonic()

    @property
    def pending(self) -> int:
        """Return how many answers have gone in and have yet to come out."""
        return len(self._line)

    @property
    def behind(self) -> bool:
        """Whether so many bodies wait that no more should be fetched."""
        return self._bytes > MOST_BYTES

    @property
    def message(self) -> str:
        """Return what is wrong with the processes just now, "" if nothing is."""
        return self._crew.message

    @property
    def pids(self) -> list[int]:
        """Return the numbers of the processes, those that are starting included."""
        return self._crew.pids

    def submit(self, fetched: Fetched) -> None:
        """Take an answer in, and have its body read, if there is one to be read."""
        self._line.append(fetched)
        if not fetched.unread:
            return
        self._unread += 1
        self._bytes += _size(fetched)
        document = _is_document(fetched)
        if (document or self._busy_s >= self._busy_limit_s) and not self._crew.starting:
            self._crew.grow()
        if self._crew.starting if self._waiting or document else self._crew.ready:
            self._crew.add(fetched)
        else:
            self._read_here(fetched)

    def done(self) -> list[Fetched]:
        """Return the answers whose bodies are read, each once, in the order in which they went in."""
        self._look()
        while self._waiting and self._unread:
            self._crew.wait(_LOOK_S)
            self._look()
        done: list[Fetched] = []
        while self._line and not self._line[0].unread:
            done.append(self._line.popleft())
        return done

    async def settle(self) -> None:
        """Return once nothing is unread any more."""
        self._look()
        while self._unread:
            if self._waiting:
                self._crew.wait(_LOOK_S)
            else:
                await asyncio.sleep(_SETTLING_S)
            self._look()

    def close(self) -> None:
        """End the processes; what is pending is lost."""
        self._crew.close()

    def _look(self) -> None:
        self._crew.look()
        if not self._crew.starting:
            for fetched in self._crew.leave():
                self._read_here(fetched)

    def _heard(self) -> None:
        self._look()
        if self._line and not self._line[0].unread:
            self._wake()

    def _learn(self, fetched: Fetched, content: Content) -> None:
        self._unread -= 1
        self._bytes -= _size(fetched)
        fetched.take(content)

    def _read_here(self, fetched: Fetched) -> None:
        began = time.monotonic()
        self._learn(fetched, attempted(self._inline.body(fetched)))
        self._busy_s = self._busy_s * math.exp(self._busy_at - began) + time.monotonic() - began
        self._busy_at = began


def _is_document(fetched: Fetched) -> bool:
    """Whether a body is for other processes alone: the libraries that read it may end theirs."""
    exchange = fetched.exchange
    mime = exchange.headers.get("content-type", "").partition(";")[0].strip().lower()
    if mime in ("text/html", "") or exchange.rendered is not None:
        return False
    start = exchange.wire if exchange.packed else exchange.body
    return bool(kind_of(mime, exchange.request.url, start[:8]))


def _size(fetched: Fetched) -> int:
    return len(fetched.exchange.wire) + len(fetched.exchange.body)
