"""The observer of a simulated world: logs all events, and passes them to every checker."""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.progress import Progress
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.result import Result, WorldLog
from evercrawl.simulate.surroundings.clock import Crash, Machine, SimulationError
from evercrawl.simulate.worlds.world import BEGAN_AT, World
from evercrawl.store.journal.events import Event, Visit
from evercrawl.types import Exchange, Request

NO_FAULTS = ("struck", "room again", "another scheme")
OWN = "the program's own"
"""The law that nothing is raised that nobody expects."""


_WRITTEN: Final = (
    (r"\bpredicted_fresh=", "said="),
    (r"\bannouncement_evidence=", "heard="),
    (r"\banchor_marks=", "said="),
    (r"\btext=TextBytes\(visible=(\d+), indexed=(\d+)\)", r"text=(\1, \2)"),
    (r"^(Visit.*), fresh_by_time=\d+\)$", r"\1)"),
    (r"^(Visit.*), cut=0\)$", r"\1)"),
    (r"^(Lost.* archive=)Pointer\(segment=(\d+), offset=(\d+), length=(\d+)\)", r"\1(\2, \3, \4)"),
)
"""How events were first written in logs, where the code has other names by now: logs compare across versions."""


class BrokenPromiseError(SimulationError):
    """An invariant was violated; the message says which, and by how much."""


class Witness:
    """Receives all events, in order.

    Parameters
    ----------
    world, watch, checkers
        As for `simulate`.

    Attributes
    ----------
    log, result
        The log and the result.
    now
        The true time of the last event, in seconds since the epoch; after a crash there is no loop to ask.
    machine
        The machine of the present life, for its time; None between lives.
    running
        The observed crawl; None before one is open.
    """

    def __init__(self, world: World, watch: Callable[[str], None] | None, checkers: Sequence[type[Checker]]) -> None:
        self.log, self.result, self.now = WorldLog(watch), Result(world.seed), BEGAN_AT
        self.checkers = [checker(world, self._blames(checker.law)) for checker in checkers]
        self.machine: Machine | None = None
        self.running: Running | None = None
        self._failures = 0  # faults of the disk before this life

    # A life

    def attend(self, machine: Machine) -> None:
        """Start observing a life on a machine; its loop is running."""
        self.machine, self._failures = machine, self.result.faults["disk failed"]
        asyncio.get_running_loop().set_exception_handler(self._unheard)

    def began(self, running: Running) -> None:
        """Note that the directory is open and the crawl about to start."""
        self.running = running
        for checker in self.checkers:
            checker.began(running)
        self.enough()

    def ended(self, *, clean: bool) -> None:
        """Note the end of the life; later closing is ignored."""
        for checker in self.checkers:
            checker.ended(self.now, clean=clean)
        self.running = None

    # What happens in it

    def at(self) -> float:
        """Return the true time."""
        if self.machine is not None:
            self.now = self.machine.true()
        return self.now

    def befell(self, what: str, *more: object) -> None:
        """Note a fault of the crawl's surroundings, or a message of the crawl."""
        self.log.add(self.at(), what, *more)
        if what not in NO_FAULTS:
            self.result.faults[what] += 1

    def asked(self, request: Request, address: str) -> None:
        """Note a request as it starts."""
        at = self.at()
        self.result.requests += 1
        self.log.add(at, "asked", request.url, address, *(f"{name}: {value}" for name, value in request.headers))
        for checker in self.checkers:
            checker.asked(request, address, at)

    def answered(self, exchange: Exchange) -> None:
        """Note a response as the crawl receives it."""
        at = self.at()
        self.log.add(at, "answered", exchange.request.url, exchange.status, exchange.error, exchange.wire)
        if exchange.error or exchange.status >= 500 or exchange.status == 429:
            self.result.faults[exchange.error or str(exchange.status)] += 1
        for checker in self.checkers:
            checker.answered(exchange, at)

    def remembered(self, event: Event, number: int) -> None:
        """Note an event."""
        at = self.at()
        self.log.add(at, "event", number, _written(event))
        self.result.visits += isinstance(event, Visit)
        for checker in self.checkers:
            checker.remembered(event, number, at)

    def turned(self) -> None:
        """Note that the crawl waits."""
        at = self.at()
        if self.running is not None:
            for checker in self.checkers:
                checker.turned(at)
        self.enough()

    def progress(self, progress: Progress) -> None:
        """Note the crawl's own report."""
        if progress.message:
            self.log.add(self.at(), "says", progress.message)

    # Judgement

    def blame(self, law: str, sentence: str) -> None:
        """Record a violation."""
        self.result.broken.append(f"{law}: {sentence}")
        self.log.add(self.now, "broken", law, sentence)

    def enough(self) -> None:
        """Stop after a violation.

        Raises
        ------
        BrokenPromiseError
            An invariant was violated.
        """
        if self.result.broken:
            raise BrokenPromiseError(self.result.broken[0])

    def excused(self, error: object) -> bool:
        """Return whether an error is the correct reaction to a disk fault of this life."""
        failed = self.result.faults["disk failed"] > self._failures
        return isinstance(error, NoRoomError) or (failed and isinstance(error, StoreError))

    def _blames(self, law: str) -> Callable[[str], None]:
        return lambda sentence: self.blame(law, sentence)

    def _unheard(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, Crash) and not self.excused(error):
            self.blame(OWN, f"{context.get('message')}: {error!r}")


def _written(event: Event) -> str:
    text = str(event)
    for pattern, written in _WRITTEN:
        text = re.sub(pattern, written, text)
    return text
