"""Parses bodies in other processes while this one fetches and remembers.

No process is started before there is work for it. Once parsing takes more than a twenty-fifth of the time, a first
one is started, and another whenever bodies wait although all processes are busy. Until one is ready, bodies are
parsed here. The results and their order are the same for any number of processes, except that a body which takes
long, or whose site had such bodies, leaves the order: those behind it are returned before it.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from evercrawl.arrays.hasher import Hasher
from evercrawl.crawl.visit.parsers import Inline
from evercrawl.crawl.workers.crew import Crew, is_document
from evercrawl.model.stored.contents import Content, attempted
from evercrawl.model.stored.reading import Fetched

MOST_BYTES: Final = 64 << 20  # total size of waiting bodies, beyond which the crawl waits
BUSY_S: Final = 0.04  # of the last second spent parsing, beyond which another process pays
HANG_S: Final = 30.0  # the longest time for one body
_SETTLING_S: Final = 0.002
_LOOK_S: Final = 0.2
ENDING_S: Final = 5.0  # for which the end of a run waits for bodies that take long


class Workers:
    """Parses bodies in up to `count` other processes.

    Parameters
    ----------
    count, longest_bytes, environment
        As for `Crew`.
    agent, hasher, text, requisites
        As for `Inline`.
    wake
        Called when `done` has something to return.
    waiting
        Whether `done` waits until every submitted body is parsed, and keeps the order in any case. Then the crawl is
        the same as one that parses here, if time does not pass meanwhile, and no event loop has to watch the processes.
    busy_s, hang_s
        The part of the last second spent parsing that starts a process; the time after which a process counts as
        hanging. Both are real time.
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
            count, self._inline.body, self._learn, self._set_apart, heard,
            longest_bytes=longest_bytes, hang_s=hang_s, environment=environment,
        )  # fmt: skip
        self._line: deque[Fetched] = deque()  # all pending answers but those set apart, in order
        self._apart: list[Fetched] = []
        self._unread, self._bytes = 0, 0
        self._busy_limit_s, self._busy_s, self._busy_at = busy_s, 0.0, time.monotonic()

    @property
    def pending(self) -> int:
        """The number of answers that were submitted and not yet returned."""
        return len(self._line) + len(self._apart)

    @property
    def apart(self) -> int:
        """The number of answers among them whose bodies take long; the others do not wait for them."""
        return len(self._apart)

    @property
    def behind(self) -> bool:
        """Whether so many bodies wait that no more should be fetched."""
        if self._bytes <= MOST_BYTES:
            return False
        return self._bytes - sum(_size(fetched) for fetched in self._apart if fetched.unread) > MOST_BYTES

    @property
    def message(self) -> str:
        """What is wrong with the processes just now; "" if nothing is."""
        return self._crew.message

    @property
    def pids(self) -> list[int]:
        """The process numbers, including those of processes that are starting."""
        return self._crew.pids

    def submit(self, fetched: Fetched) -> None:
        """Take an answer, and have its body parsed if it is unread."""
        self._line.append(fetched)
        if not fetched.unread:
            return
        self._unread += 1
        self._bytes += _size(fetched)
        document = is_document(fetched)
        if (document or self._busy_s >= self._busy_limit_s) and not self._crew.starting:
            self._crew.grow()
        if self._crew.starting if self._waiting or document else self._crew.ready:
            self._crew.add(fetched)
        else:
            self._read_here(fetched)

    def done(self) -> list[Fetched]:
        """Return the answers whose bodies are parsed, each once, in order but for those that take long."""
        self._look()
        while self._waiting and self._unread:
            self._crew.wait(_LOOK_S)
            self._look()
        done: list[Fetched] = []
        while self._line and not self._line[0].unread:
            done.append(self._line.popleft())
        if self._apart:
            done += [fetched for fetched in self._apart if not fetched.unread]
            self._apart = [fetched for fetched in self._apart if fetched.unread]
        return done

    async def settle(self, *, patient: bool = False) -> None:
        """Wait until every body is parsed; unless `patient`, those that take long are dropped after some seconds."""
        self._look()
        until = time.monotonic() + ENDING_S
        while self._unread:
            late = sum(fetched.unread for fetched in self._apart)
            if not patient and late == self._unread and time.monotonic() > until:
                self._crew.close()
                self._apart = [fetched for fetched in self._apart if not fetched.unread]
                self._unread = 0
                return
            if self._waiting:
                self._crew.wait(_LOOK_S)
            else:
                await asyncio.sleep(_SETTLING_S)
            self._look()

    def close(self) -> None:
        """End the processes; pending answers are lost."""
        self._crew.close()

    def _look(self) -> None:
        self._crew.look()
        if not self._crew.starting:
            for fetched in self._crew.leave():
                self._read_here(fetched)

    def _heard(self) -> None:
        self._look()
        if (self._line and not self._line[0].unread) or any(not fetched.unread for fetched in self._apart):
            self._wake()

    def _set_apart(self, fetched: Fetched) -> None:
        """Take a body out of the order; with `waiting`, all keep it."""
        if not self._waiting and not any(fetched is other for other in self._apart):
            at = next(at for at, other in enumerate(self._line) if other is fetched)
            del self._line[at]
            self._apart.append(fetched)

    def _learn(self, fetched: Fetched, content: Content) -> None:
        self._unread -= 1
        self._bytes -= _size(fetched)
        fetched.take(content)

    def _read_here(self, fetched: Fetched) -> None:
        began = time.monotonic()
        self._learn(fetched, attempted(self._inline.body(fetched)))
        self._busy_s = self._busy_s * math.exp(self._busy_at - began) + time.monotonic() - began
        self._busy_at = began


def _size(fetched: Fetched) -> int:
    return len(fetched.exchange.wire) + len(fetched.exchange.body)
