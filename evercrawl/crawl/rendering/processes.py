"""The processes of a browser and their memory."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class BrowserProcess(NamedTuple):
    """A process of a browser.

    Attributes
    ----------
    pid
        Its number.
    size_bytes
        Its memory with its share of what it has in common with others; its own memory alone if the total is small.
    of_page
        Whether it runs a page's scripts.
    """

    pid: int
    size_bytes: int
    of_page: bool


def drivers() -> set[int]:
    """Return the child processes of this one that drive browsers."""
    return {pid for pid in _children(os.getpid()) if b"run-driver" in _command(pid)}


def descendants(pid: int) -> Iterator[int]:
    """Yield all descendants of a process."""
    for child in _children(pid):
        yield child
        yield from descendants(child)


def measured(driver: int, near_bytes: int = 0) -> list[BrowserProcess]:
    """Return a driver and all of its descendants.

    Parameters
    ----------
    driver
        The process number of the driver.
    near_bytes
        If the total of their own memory is less, their shared memory is not measured, which would take milliseconds.
    """
    pids = (driver, *descendants(driver))
    sizes = [own_bytes(pid) for pid in pids]
    if sum(sizes) >= near_bytes:
        sizes = [_memory_bytes(pid) for pid in pids]
    return [BrowserProcess(pid, size, runs_page(pid)) for pid, size in zip(pids, sizes, strict=True)]


def runs_page(pid: int) -> bool:
    """Whether a process runs a page's scripts."""
    return b"--type=renderer" in _command(pid)


def own_bytes(pid: int) -> int:
    """Return the resident memory of a process that belongs to no file; 0 if it has ended."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
        return (resident - shared) * _PAGE_BYTES
    return 0


def data_bytes(pid: int) -> int:
    """Return the data size of a process, resident or not; 0 if it has ended."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) << 10
    return 0


def bound_data(pid: int, most_bytes: int) -> None:
    """Limit the data size of a process; beyond the limit, its allocations fail."""
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
        most = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
        resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))


def end(pids: list[int]) -> None:
    """Kill processes."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    found = list[int]()
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _memory_bytes(pid: int) -> int:
    """Return the proportional set size of a process; its whole resident size if that is not known."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    return 0
