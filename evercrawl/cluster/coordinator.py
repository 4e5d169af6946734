"""Runs a crawl in several partitions: starts their processes, carries their messages, divides the limits."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.ask.parts_line import PartState, hung
from evercrawl.cluster.asking import AskedParts, PartsLine
from evercrawl.cluster.birth import ClusterBirth, next_life
from evercrawl.cluster.ceilings import SharedCeiling
from evercrawl.cluster.copies.base import PartCopies
from evercrawl.cluster.copies.folder_copies import FolderCopies
from evercrawl.cluster.launching import Launcher, LocalLauncher, PartProcess
from evercrawl.cluster.metrics import EVERY_S, write_figures
from evercrawl.cluster.moving.interfaces import PartTransfer
from evercrawl.cluster.moving.part_moves import PartMoves
from evercrawl.cluster.part import LEAVE_S
from evercrawl.cluster.patience import Listening, Patience
from evercrawl.cluster.plan import PartPlan
from evercrawl.cluster.run_part import AGAIN_S, RunPart, of_one_before, progress_of
from evercrawl.cluster.shares import part_config, with_changes, written
from evercrawl.cluster.visit_reports import VisitLog, logged
from evercrawl.cluster.wire import (
    CeilingShared,
    CopyAsked,
    CopyWhole,
    Frame,
    LeaveAsked,
    LeaveGiven,
    Mailed,
    PagesAllowed,
    PartAnswered,
    PartEnded,
    PartReport,
    StopAsked,
    VisitLogged,
    packed,
    read_frame,
)
from evercrawl.config import Config, has_settings
from evercrawl.errors import ConfigError, EvercrawlError, NoMemoryError, NoRoomError, StoreError
from evercrawl.progress import Limits, Progress, Summary

_ENDED_BY: Final = {error.exit_code: error for error in (ConfigError, StoreError, NoRoomError, NoMemoryError)}
TURN_S: Final = 0.5
AGAIN_MOST_S: Final = 30.0
LASTS_S: Final = 60.0
RESTS: Final = 3  # consecutive looks at which nothing was left and nothing had changed
END_S: Final = 8.0
LAST_WORDS_S: Final = 2.0
TOLD_AFTER: Final = 2
"""Number of processes of a partition in a row that end with an error before they report, until an alert is raised."""
TRIES: Final = 5
"""Number of such processes that ends a run with a limit of pages or `until_idle`, which would otherwise never end."""
SPARE_S: Final = 2.0
"""A partition without a visit for this time must release its unused visits if others are short of visits."""


class Coordinator:
    """One run of a crawl in several partitions.

    Parameters
    ----------
    directory, birth
        The crawl's directory and description.
    config, seeds, limits, watch
        As in `evercrawl.crawl.session.crawl`.
    launcher, copies, transfer
        Where the processes run; the second copies, and what moves partitions, None if they are on this machine.
    log
        The log of the run; None for none.
    """

    def __init__(
        self,
        directory: Path,
        birth: ClusterBirth,
        config: Config,
        seeds: Sequence[str],
        limits: Limits,
        watch: Callable[[Progress], None],
        launcher: Launcher,
        copies: PartCopies | None = None,
        transfer: PartTransfer | None = None,
        log: VisitLog | None = None,
    ) -> None:
        self._directory, self._birth, self._launcher = directory, birth, launcher
        self._config, self._seeds, self._limits, self._watch = config, tuple(seeds), limits, watch
        self._written, self._log = written(directory), log
        self._parts = [RunPart(number) for number in range(birth.parts)]
        for part in self._parts:
            part.placed.set()
        self._begun_at, self._reason = time.monotonic(), ""
        self._error: EvercrawlError | None = None
        self._rests, self._last = 0, (-1, -1)
        self._left, self._measured_at = limits.pages, float("-inf")
        self._tasks = set[asyncio.Task[None]]()
        self._ceiling, self._listening = SharedCeiling(birth.parts), Listening()
        self._asked = AskedParts(
            lambda number, frame: self._say(self._parts[number], frame),
            lambda number: hung(self._state(self._parts[number])),
            lambda number: self._parts[number].placed,
        )
        self._copies: PartCopies = FolderCopies(directory, birth) if copies is None else copies
        self._copies.say = lambda number, frame: self._say(self._parts[number], frame)
        self._moves = PartMoves(directory, self, self._tell, transfer)
        self._line = PartsLine(directory, self.states, self._asked.ask, self._moves.lent)

    async def run(self, stop: asyncio.Event | None = None) -> Summary:
        """Crawl until a limit is reached or `stop` is set.

        Raises
        ------
        StoreError
            A partition cannot be crawled; the message says why.
        """
        await self._line.open()
        try:
            while not self._over(stop):
                self._look()
                self._mind()
                self._keep()
                self._revive()
                self._allow()
                self._share()
                self._moves.turn()
                self._watch(self.progress())
                self._measure()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for((stop or asyncio.Event()).wait(), TURN_S)
        finally:
            await self._line.close()
            await self._end()
        progress = self.progress()
        self._watch(progress)
        self._measure(last=True)
        for part in self._parts:  # others could go on meanwhile, and yet not all is well
            if part.trouble is not None:
                self._fail(part, part.trouble.error, part.trouble.code)
        if self._error:
            raise self._error
        return Summary(progress.visits, progress.fetched, progress.known, progress.elapsed_s, self._reason)

    def progress(self) -> Progress:
        """Return the progress of all partitions together."""
        return progress_of(self._parts, time.monotonic() - self._begun_at)

    def _look(self) -> None:
        """Look up which machines can be reached."""
        self._launcher.look()
        for part in self._parts:
            part.machine = self._launcher.where(part.number) or part.machine

    def states(self) -> list[PartState]:
        """Return the present state of each partition."""
        return [self._state(part) for part in self._parts]

    def _state(self, part: RunPart) -> PartState:
        return part.state(self._launcher.where(part.number))

    def _measure(self, *, last: bool = False) -> None:
        """Write the figures of all partitions for Prometheus, at intervals."""
        if last or time.monotonic() >= self._measured_at + EVERY_S:
            self._measured_at = time.monotonic()
            write_figures(self._directory, self.states())

    # When it ends

    def _over(self, stop: asyncio.Event | None) -> bool:
        hanging = self._limits.pages is not None and {part.number for part in self._parts if hung(self._state(part))}
        visits = sum(  # do not wait for the visits that a hanging process may make: it may have made them
            max(part.allowed, part.visits) if hanging and part.number in hanging else part.visits
            for part in self._parts
        )
        if self._error:
            self._reason = "failed"
        elif stop is not None and stop.is_set():
            self._reason = "stopped"
        elif self._limits.seconds is not None and time.monotonic() - self._begun_at >= self._limits.seconds:
            self._reason = "seconds"
        elif self._limits.pages is not None and visits >= self._limits.pages:
            self._reason = "pages"
        elif self._at_rest() and (self._limits.until_idle or self._left == 0):
            self._reason = "idle" if self._limits.until_idle else "pages"
        return bool(self._reason)

    def _at_rest(self) -> bool:
        """Return whether, for several looks, no work was left or under way between partitions."""
        now = sum(part.visits for part in self._parts), sum(part.report.letters for part in self._parts)
        rest = all(part.report.at_rest and part.running for part in self._parts)
        self._rests = self._rests + 1 if rest and now == self._last else 0
        self._last = now
        return self._rests >= RESTS

    def _allow(self) -> None:
        """Let partitions that have nearly used up their visits make more, as long as the run has visits left."""
        if self._left is None:
            return
        wanting, busy = False, [part for part in self._parts if part.running and not part.report.at_rest]
        for part in busy or self._parts:  # an idle partition may have pages to refresh; it comes last
            wanted = part.visits + part.report.in_flight >= part.allowed - 1 and part.lowered is None
            wanting = wanting or wanted
            if wanted and self._left and part.running:
                more = min(max(self._left // (4 * len(self._parts)), 1), self._left)
                self._left -= more
                part.allowed += more
                self._say(part, PagesAllowed(part.allowed - part.before))
        for part in self._parts if wanting and not self._left else ():
            used = part.visits + part.report.in_flight
            spare = part.lowered is None and part.allowed > used and time.monotonic() > part.visited_at + SPARE_S
            if spare and part.writer is not None:  # a process that has not joined yet gets its number when it joins
                part.lowered = used
                self._say(part, PagesAllowed(used - part.before))

    def _share(self) -> None:
        """Give partitions the part of the page ceiling that others leave."""
        if self._settings().rate_per_s:
            now, used = time.monotonic(), [part.report.used for part in self._parts]
            shut = {part.number for part in self._parts if part.using_until < now}
            for number, share in self._ceiling.turn(used, now, shut).items():
                self._say(self._parts[number], CeilingShared(share))

    def _mind(self) -> None:
        """Report processes that hang, and end those that have been hanging for long."""
        now = time.monotonic()
        paused_s = self._listening.paused_s(now)
        for part in self._parts:
            if part.patience is None or part.process is None:
                continue
            part.patience.missed(paused_s, now)
            sentence = hung(self._state(part))
            if bool(sentence) != part.told_hung:
                part.told_hung = bool(sentence)
                self._tell(f"partition {part.number}: {sentence or 'its process continues'}")
            if part.patience.is_over(now):
                part.process.kill()

    def _keep(self) -> None:
        """Attend to the second copies; restart partitions whose keepers are lost, with other keepers."""
        for number in self._copies.turn(self._settings()):
            process = self._parts[number].process
            if process is not None:
                process.kill()

    def _take_back(self, part: RunPart) -> None:
        """Reclaim the visits that a partition may no longer make, once it has confirmed the lower number."""
        if part.lowered is None or self._left is None or part.report.allowed != part.lowered - part.before:
            return
        rest = max(part.lowered, part.visits + part.report.in_flight)
        self._left += max(part.allowed - rest, 0)
        part.allowed, part.lowered, part.visited_at = rest, None, time.monotonic()

    def _settings(self) -> Config:
        """Return the initial settings with later changes, so that a restarted process gets no outdated settings."""
        there = has_settings(self._directory)  # a file that is lost meanwhile changes nothing
        return with_changes(self._config, self._written, written(self._directory) if there else None)

    # Processes

    def _begin(self, part: RunPart) -> None:
        """Start a process of a partition."""
        part.outcomes.update(part.report.outcomes)
        if self._left is not None and part.begun_at:  # it may have made visits that it did not report
            part.allowed = max(part.allowed, part.visits)
        part.before = part.visits if self._left is None else part.allowed
        part.report, part.lowered = of_one_before(part.report), None
        part.asks, part.reported_at = None, float("-inf")
        part.shut_until = part.leave_until
        settings, life = self._settings(), next_life(self._directory)
        directory = self._launcher.directory(part.number)
        plan = PartPlan(
            directory, self._birth.share(part.number), bytes.fromhex(self._birth.secret),
            life, part_config(settings, part.number, len(self._parts)), self._seeds, logged=logged(self._log),
        )  # fmt: skip
        part.process = self._launcher.launch(self._copies.planned(plan, settings))
        part.begun_at, part.ended = time.monotonic(), False
        part.life, part.lives = life, part.lives + 1
        part.reported.clear()
        task = part.attending = asyncio.ensure_future(self._attend(part, part.process))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attend(self, part: RunPart, process: PartProcess) -> None:
        """Carry the frames of a process until it ends."""
        over, line = asyncio.ensure_future(process.ended()), None
        try:
            line = await process.connected()
        except EvercrawlError as error:
            self._fail(part, str(error))
            process.kill()
        if line is not None:
            reader, part.writer = line
            part.patience, part.told_hung, part.visited_at = Patience(time.monotonic()), False, time.monotonic()
            self._say(part, PagesAllowed(-1 if self._left is None else part.allowed - part.before))
            self._say(part, CeilingShared(self._ceiling.told[part.number]))
            listening = asyncio.ensure_future(self._listen(part, reader))
            await asyncio.wait([over, listening], return_when=asyncio.FIRST_COMPLETED)
            if over.done():  # its last frames have been read; if its machine is gone, none will come
                await asyncio.wait([listening], timeout=LAST_WORDS_S)
                listening.cancel()
            if listening.done() and not listening.cancelled() and (fault := listening.exception()) is not None:
                self._fail(part, f"{type(fault).__name__}: {fault}")
            part.writer.close()
            await asyncio.wait([over], timeout=END_S)  # it has announced its end, or cannot be reached
            if not over.done():
                process.kill()
        how = await over
        part.writer = part.process = part.patience = None
        self._asked.gone(part.number)
        if process.gone:  # it can start no more exchanges
            part.leave_until = float("-inf")
        lasted = time.monotonic() - part.begun_at >= LASTS_S
        part.again_s = AGAIN_S if lasted else min(2 * part.again_s, AGAIN_MOST_S)
        part.again_at = time.monotonic() + part.again_s
        if not part.ended and not self._reason:
            self._tell(f"partition {part.number} was killed ({how}); it is restarted")

    async def _listen(self, part: RunPart, reader: asyncio.StreamReader) -> None:
        while (frame := await read_frame(reader)) is not None:
            self._hear(part, frame)
            if part.patience is not None:
                part.patience.heard(time.monotonic(), opening=not part.reported.is_set())

    def _hear(self, part: RunPart, frame: Frame) -> None:
        sentence = isinstance(frame, PartReport) and frame.message and not frame.pid
        if not sentence and not isinstance(frame, (LeaveAsked, PartEnded)):
            self._moves.counts(part.number)
        if isinstance(frame, Mailed):
            self._copies.begun(part.number)
            if 0 <= frame.to < len(self._parts):
                self._say(self._parts[frame.to], Mailed(frame.to, frame.data, part.number, part.life))
        elif isinstance(frame, LeaveAsked):
            part.asks = frame
            self._give_leave(part)
        elif isinstance(frame, PartReport):
            if frame.message and frame.message != part.report.message:
                self._tell(f"partition {part.number}: {frame.message}", part, frame.alert)
            if not sentence:
                part.visited_at = time.monotonic() if frame.visits != part.report.visits else part.visited_at
                part.report, part.reported_at = frame, time.monotonic()
                part.trouble, part.failures = None, 0
                part.reported.set()
                self._copies.begun(part.number)
                self._give_leave(part)
                if frame.kept:
                    self._copies.caught_up(part.number)
                self._ceiling.heard(part.number, frame.ceiling)
                self._take_back(part)
        elif isinstance(frame, VisitLogged):
            if self._log is not None:
                fields = msgspec.msgpack.decode(frame.fields, type=dict[str, object])
                self._log.learned_afar(part.number, part.machine, frame.at, fields)
        elif isinstance(frame, CopyWhole):
            self._copies.begun(part.number)
            self._copies.caught_up(part.number)
        elif isinstance(frame, CopyAsked):
            self._copies.ask(part.number, frame)
        elif isinstance(frame, PartAnswered):
            self._asked.heard(frame)
        elif isinstance(frame, PartEnded):
            part.ended = True
            lost = frame.lost and (self._moves.lost(part.number) or self._copies.lost(part.number))
            part.trouble, part.failures = (frame, part.failures + 1) if frame.error else (None, 0)
            limited = self._limits.until_idle or self._limits.pages is not None
            if frame.error and (frame.again or lost) and not (limited and part.failures >= TRIES):
                alert = "failed" if part.failures >= TOLD_AFTER else ""
                self._tell(f"partition {part.number}: {frame.error}; it is restarted", part, alert)
            elif frame.error:
                self._fail(part, frame.error, frame.code)

    def _fail(self, part: RunPart, sentence: str, code: int = StoreError.exit_code) -> None:
        """End the run, because a partition cannot be crawled; the first reason counts."""
        if self._error is None:
            self._error = _ENDED_BY.get(code, StoreError)(f"partition {part.number}: {sentence}")
            self._error.partition, self._error.machine = part.number, part.machine

    def _give_leave(self, part: RunPart) -> None:
        """Grant a process that reports its state the leave that it asked for, to request pages for a while.

        A process that asks but does not report would block all that waits for its report, such as the ceilings.
        """
        now = time.monotonic()
        if part.asks is not None and part.shut_until <= now < part.reported_at + LEAVE_S:
            part.leave_until = part.using_until = now + LEAVE_S
            self._say(part, LeaveGiven(part.asks.at))
            part.asks = None

    def _revive(self) -> None:
        """Restart processes that ended prematurely."""
        settings = self._settings()
        for part in self._parts:
            if part.running or part.rests or time.monotonic() < part.again_at:
                continue
            missing = self._copies.missing(part.number, self._launcher.missing(part.number), settings)
            if missing and missing != part.waits:
                self._tell(missing)
            part.waits = missing
            if not missing:
                self._begin(part)

    async def rest(self, number: int) -> None:
        """Return once a partition has no process; it gets none until `resume`."""
        part = self._parts[number]
        part.rests = True
        part.placed.clear()
        self._say(part, StopAsked())
        if part.attending is not None:
            await asyncio.wait([part.attending], timeout=END_S)
            if part.process is not None:
                with contextlib.suppress(Exception):  # its machine may be gone
                    part.process.kill()
            await asyncio.wait([part.attending])

    async def resume(self, number: int) -> None:
        """Return once a partition has a process again that has reported; earlier if that takes long."""
        part = self._parts[number]
        part.rests, part.again_at = False, 0.0
        try:
            if not self._reason:
                self._revive()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(part.reported.wait(), LASTS_S)
        finally:
            part.placed.set()

    def well(self, number: int) -> bool:
        """Return whether the process of a partition has reported, and all that counts is also in its second copy."""
        part = self._parts[number]
        reported = part.running and part.reported.is_set()
        return reported and (part.report.kept or self._settings().durable != "keeper")

    def _say(self, part: RunPart, frame: Frame) -> bool:
        """Send a frame to the process of a partition; return whether it has one."""
        if part.writer is None or part.writer.is_closing():
            return False
        part.writer.write(packed(frame))
        return True

    def _tell(self, sentence: str, part: RunPart | None = None, alert: str = "") -> None:
        about = () if part is None else (part.health,)
        self._watch(Progress(at=time.time(), message=sentence, alert=alert, partitions=about))

    async def _end(self) -> None:
        """End all processes in order; kill those that do not end."""
        self._reason = self._reason or "stopped"
        self._moves.stop()
        for part in self._parts:
            self._say(part, StopAsked())
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=END_S)
        for part in self._parts:
            if part.process is not None:
                part.process.kill()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._moves.close()
        await self._copies.close()


async def crawl_parted(
    directory: Path,
    birth: ClusterBirth,
    config: Config,
    seeds: Sequence[str],
    limits: Limits,
    watch: Callable[[Progress], None] = lambda _: None,
    stop: asyncio.Event | None = None,
    launcher: Launcher | None = None,
    copies: PartCopies | None = None,
    transfer: PartTransfer | None = None,
    log: VisitLog | None = None,
) -> Summary:
    """Crawl in several partitions until a limit is reached or `stop` is set.

    Parameters
    ----------
    directory, birth
        The directory, which the caller has locked, and its description.
    config, seeds, limits, watch, stop
        As in `evercrawl.crawl.session.crawl`.
    launcher, copies, transfer
        Where the processes run, the second copies, and what moves partitions; None for this machine.
    log
        The log of the run; None for none.

    Raises
    ------
    StoreError
        A partition cannot be crawled.
    """
    launcher = LocalLauncher(directory) if launcher is None else launcher
    one = Coordinator(directory, birth, config, seeds, limits, watch, launcher, copies, transfer, log)
    return await one.run(stop)
