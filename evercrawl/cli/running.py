"""Running of a crawl until it ends or is asked to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from evercrawl.progress import Summary

GRACE_S = 8.0
LAST_S = 9.8  # after the first signal; work that still runs then will not end by itself


def obey_from_now() -> None:
    """End with exit code 0 on Ctrl-C, SIGTERM and SIGHUP while nothing has been opened yet."""
    for number in _ending():
        signal.signal(number, _leave)


def _ending() -> list[signal.Signals]:
    """Return the signals that end the work: not SIGHUP if it is ignored, as under nohup, or reopens a log."""
    heeded = signal.getsignal(signal.SIGHUP) in (signal.SIG_DFL, _leave)
    return [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if heeded else [])]


def _leave(number: int, frame: object) -> None:
    sys.exit(0)


def until_stopped(
    work: Callable[[asyncio.Event], Awaitable[Summary]], tell: Callable[[], None] | None = None
) -> Summary | None:
    """Return what `work` returns.

    The first Ctrl-C, SIGTERM or SIGHUP sets the event that `work` received, on which `work` should end by itself, and
    calls `tell`, which may print a message. After `GRACE_S` seconds the work is cancelled, and None returned. A second
    Ctrl-C ends the process at once, and so do `LAST_S` seconds after the first, even if the event loop is blocked, for
    instance by an endless regular expression. SIGHUP is left alone if it is ignored or handled already.
    """
    import asyncio  # here, because every start of the command line imports this file

    return asyncio.run(_obeying(work, tell))


async def _obeying(
    work: Callable[[asyncio.Event], Awaitable[Summary]], tell: Callable[[], None] | None
) -> Summary | None:
    import asyncio

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work(stop))

    told = False

    def asked(number: int, frame: object) -> None:
        nonlocal told
        if not told:
            told = True
            signal.setitimer(signal.ITIMER_REAL, LAST_S)
            loop.call_soon_threadsafe(end)
        elif number == signal.SIGINT:
            _die()

    def end() -> None:
        stop.set()
        loop.call_later(GRACE_S, task.cancel)
        if tell is not None:
            with contextlib.suppress(OSError):  # the reader may be gone; the crawl still ends cleanly
                tell()

    # not the loop's own handlers, which wait for the loop
    before = {number: signal.signal(number, asked) for number in _ending()}
    before[signal.SIGALRM] = signal.signal(signal.SIGALRM, _die)
    try:
        return await task
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _die(number: int = 0, frame: object = None) -> None:
    """End like a program killed by Ctrl-C; acknowledged pages are already on disk."""
    if sys.stdout.isatty():
        sys.stdout.write("\x1b[?25h\n")  # the live display has hidden the cursor
        sys.stdout.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
