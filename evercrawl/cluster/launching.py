"""Starts the processes of partitions: an interface, and the implementation for this machine."""

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
        After the end: whether the process has certainly ended. That is uncertain if its machine cannot be reached.
    """

    gone: bool

    async def connected(self) -> Line | None:
        """Return the connection to the process once it exists; None if the process ended before."""
        ...

    async def ended(self) -> str:
        """Wait until the process has ended; return a short description of how."""
        ...

    def kill(self) -> None:
        """Kill the process at once."""
        ...


class Launcher(Protocol):
    """Starts processes of partitions."""

    def look(self) -> None:
        """Refresh the view of the machines; until the next call, all methods answer from the same view."""
        ...

    def missing(self, number: int) -> str:
        """Return a sentence why a partition cannot be started now; "" if it can."""
        ...

    def directory(self, number: int) -> Path:
        """Return the crawl directory of a partition, on its machine."""
        ...

    def where(self, number: int) -> str:
        """Return the machine of a partition; "" if it cannot be reached."""
        ...

    def launch(self, plan: PartPlan) -> PartProcess:
        """Start a process; the result shows its fate."""
        ...


class LocalLauncher:
    """Runs partitions as processes on this machine, in the crawl's own directory.

    Parameters
    ----------
    The crawl's directory.
        Of the crawl.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def look(self) -> None:
        """Do nothing: this machine is always there."""

    def missing(self, number: int) -> str:
        """Return "": a partition on this machine can always be started."""
        return ""

    def directory(self, number: int) -> Path:
        """Return the crawl directory of a partition."""
        return part_directories(self._directory)[number]

    def where(self, number: int) -> str:
        """Return the name of this machine."""
        return os.uname().nodename

    def launch(self, plan: PartPlan) -> PartProcess:
        """Start a process."""
        return _LocalProcess(plan)


class _LocalProcess:
    """A child process on this machine; it is gone once it has been waited for."""

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
