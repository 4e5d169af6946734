"""The processes of a browser: which they are, and how much memory they have."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class BrowserProcess(NamedTuple):
    """A process, what it holds in memory (its share of what others hold too), and whether it runs a page's scripts."""

    pid: int
    size_bytes: int
    of_page: bool


def drivers() -> set[int]:
    """Return the processes of ours that drive browsers."""
    return {pid for pid in _children(os.getpid()) if b"run-driver" in _command(pid)}


def descendants(pid: int) -> Iterator[int]:
    """Yield the processes that a process has begun, and those that these have."""
    for child in _children(pid):
        yield child
        yield from descendants(child)


def measured(driver: int) -> list[BrowserProcess]:
    """Return the processes of a driver, itself among them."""
    return [
        BrowserProcess(pid, _memory_bytes(pid), b"--type=renderer" in _command(pid))
        for pid in (driver, *descendants(driver))
    ]


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
    """Return the proportional share of a process, all of what it has in memory where that is not told."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    return 0
