"""Where the processes of partitions run: an interface, and this machine."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from evercrawl.cluster.birth import part_directories
from evercrawl.cluster.part import run_part
from evercrawl.cluster.plan import PartPlan

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Line: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class PartProcess(Protocol):
    """A process of a partition, wherever it runs.

    Attributes
    ----------
    gone
        Once it has ended: whether that is certain. Where a machine cannot be reached it is not.
    """

    gone: bool

    async def connected(self) -> Line | None:
        """Return the line to it, once there is one; None where it ended before."""
        ...

    async def ended(self) -> str:
        """Wait until it has ended; return how, in some words."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


class Launcher(Protocol):
    """Begins processes of partitions."""

    def look(self) -> None:
        """See what is there; until the next look nothing else is believed, so that what is asked fits together."""
        ...

    def missing(self, number: int) -> str:
        """Return why a partition cannot be begun now, in a sentence; "" where it can."""
        ...

    def directory(self, number: int) -> Path:
        """Return the crawl directory of a partition, at its place."""
        ...

    def where(self, number: int) -> str:
        """Return the machine that a partition is on; "" where that is not there."""
        ...

    def launch(self, plan: PartPlan) -> PartProcess:
        """Begin a process; what becomes of it shows at `PartProcess`."""
        ...


class LocalLauncher:
    """Runs partitions as processes on this machine, in the crawl's own directory.

    Parameters
    ----------
    directory
        Of the crawl.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def look(self) -> None:
        """See that this machine is there."""

    def missing(self, number: int) -> str:
        """Return that nothing is in the way."""
        return ""

    def directory(self, number: int) -> Path:
        """Return the crawl directory of a partition."""
        return part_directories(self._directory)[number]

    def where(self, number: int) -> str:
        """Return the name of this machine."""
        return os.uname().nodename

    def launch(self, plan: PartPlan) -> PartProcess:
        """Begin a process."""
        return _LocalProcess(plan)


class _LocalProcess:
    """A process on this machine, which is a child of this one, and gone once it has been waited for."""

    gone = True

    def __init__(self, plan: PartPlan) -> None:
        self._line, theirs = socket.socketpair()
        self._process: BaseProcess = multiprocessing.get_context("spawn").Process(
            target=run_part, args=(plan, theirs), name=f"evercrawl part {plan.share.number}", daemon=True
        )
        self._process.start()
        theirs.close()

    async def connected(self) -> Line | None:
        return await asyncio.open_connection(sock=self._line)

    async def ended(self) -> str:
        await asyncio.get_running_loop().run_in_executor(None, self._process.join)
        return f"exit code {self._process.exitcode}"

    def kill(self) -> None:
        self._process.kill()
