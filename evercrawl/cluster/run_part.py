"""One partition of a run, as the process that runs the crawl sees it; and the progress of all."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from evercrawl.ask.parts_line import PartState
from evercrawl.cluster.launching import PartProcess
from evercrawl.cluster.patience import Patience
from evercrawl.cluster.wire import LeaveAsked, PartEnded, PartReport
from evercrawl.progress import PartHealth, Progress

AGAIN_S: Final = 1.0
"""Delay before a killed process is started again; it doubles while processes do not last."""


@dataclass
class RunPart:
    """One partition of a run: its process, and its last report."""

    number: int
    process: PartProcess | None = None
    writer: asyncio.StreamWriter | None = None
    report: PartReport = field(default_factory=PartReport)
    before: int = 0  # visits of its earlier processes in this run
    allowed: int = 0  # visits in all, if the run has a limit
    lowered: int | None = None  # a lower value of `allowed` that was sent and not confirmed yet
    visited_at: float = 0.0  # when it last made a visit
    begun_at: float = 0.0
    life: int = 0  # number of its process, over all runs
    lives: int = 0  # its processes that this run has started
    again_s: float = AGAIN_S
    again_at: float = 0.0
    ended: bool = False
    attending: asyncio.Task[None] | None = None  # reads the frames of its process, until that ends
    reported: asyncio.Event = field(default_factory=asyncio.Event)  # set once its process has reported
    rests: bool = False  # whether it must have no process, because it is being moved
    placed: asyncio.Event = field(default_factory=asyncio.Event)  # set unless it is being moved
    reported_at: float = float("-inf")  # time of its process's last report
    asks: LeaveAsked | None = None  # the last request for leave that was not granted
    leave_until: float = float("-inf")  # end of its process's leave, by the monotonic clock of this process
    using_until: float = float("-inf")  # the same for all its processes so far: until then one may use its ceiling
    patience: Patience | None = None  # with its process, while connected
    told_hung: bool = False  # whether it was reported as hanging
    shut_until: float = float("-inf")  # until then an earlier process may request pages, and this one may not
    waits: str = ""  # why it cannot be started, as last reported
    trouble: PartEnded | None = None  # the error of its last process, unless one has reported since
    failures: int = 0  # number of its processes that ended with an error since one reported
    machine: str = ""  # where its process is, as last known
    outcomes: Counter[str] = field(default_factory=Counter[str])

    @property
    def visits(self) -> int:
        """Its visits of this run."""
        return self.before + self.report.visits

    @property
    def running(self) -> bool:
        """Whether it has a process."""
        return self.process is not None

    @property
    def health(self) -> PartHealth:
        """Its conditions, as last reported."""
        said = self.report
        return PartHealth(
            self.number, self.machine, said.disk_full, said.memory_short, said.names_trouble, said.fresh, said.message
        )

    def state(self, where: str) -> PartState:
        """Return its present state; `where` is its machine if that can be reached."""
        report, opening = self.report, self.patience is not None and self.patience.opening
        silent_s = 0.0 if self.patience is None else self.patience.silent_s(time.monotonic())
        return PartState(
            self.number, where, self.writer is not None, self.lives, self.waits, report.known - report.elsewhere,
            report.elsewhere, report.fetched, report.queue, self.visits, report.bytes_in, report.in_flight,
            report.rate_per_s, report.letters, report.under_way, report.leases, report.let, report.at_rest, report.pid,
            silent_s, opening, report.refused,
        )  # fmt: skip


def progress_of(parts: Sequence[RunPart], elapsed_s: float) -> Progress:
    """Return the progress of all partitions together, at this time after the start of the run."""
    reports = [part.report for part in parts]
    measured = [report.fresh for report in reports if report.fresh is not None]
    errors = Counter[str]()
    for report in reports:
        errors.update(report.errors)
    outcomes = Counter[str]()
    for part in parts:
        outcomes.update(part.outcomes)
        outcomes.update(part.report.outcomes)
    return Progress(
        at=time.time(),
        elapsed_s=max(elapsed_s, 1e-9),
        known=sum(report.known - report.elsewhere for report in reports),
        fetched=sum(report.fetched for report in reports),
        visits=sum(part.visits for part in parts),
        queue=sum(report.queue for report in reports),
        in_flight=sum(report.in_flight for report in reports),
        rate_per_s=sum(report.rate_per_s for report in reports),
        bytes_in=sum(report.bytes_in for report in reports),
        outcomes=dict(outcomes),
        errors=dict(errors),
        names_trouble=next((report.names_trouble for report in reports if report.names_trouble), ""),
        disk_full=any(report.disk_full for report in reports),
        memory_short=any(report.memory_short for report in reports),
        fresh=sum(measured) / len(measured) if measured else None,
        partitions=tuple(part.health for part in parts),
    )


def of_one_before(report: PartReport) -> PartReport:
    """Return a report for a process that has not reported yet: known totals and conditions stay, counts start at 0."""
    return PartReport(
        report.known, report.elsewhere, report.fetched, report.queue, message=report.message,
        disk_full=report.disk_full, memory_short=report.memory_short, names_trouble=report.names_trouble,
        fresh=report.fresh,
    )  # fmt: skip
