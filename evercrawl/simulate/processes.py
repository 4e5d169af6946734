"""Processes that work beside the one that a person started, and end with it."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Final

from evercrawl.errors import EvercrawlError

SPAWN: Final = multiprocessing.get_context("spawn")
"""How processes are started: a forked event loop would be shared."""


@contextmanager
def processes(
    count: int, begin: Callable[..., object] | None = None, *arguments: object
) -> Generator[ProcessPoolExecutor]:
    """Have processes to hand work to; what is under way is given up at the end, or when something is raised.

    Parameters
    ----------
    count
        How many there are at most.
    begin, arguments
        Called in each before anything else.

    Raises
    ------
    EvercrawlError
        One of them was ended from outside.
    """
    with ProcessPoolExecutor(count, mp_context=SPAWN, initializer=_begin, initargs=(begin, arguments)) as pool:
        try:
            yield pool
        except BrokenProcessPool as error:
            raise EvercrawlError(
                "a process that worked beside this one was ended, perhaps for want of memory; let fewer work at once"
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.kill()  # a signal that can be handled may be lost while it starts


def _begin(begin: Callable[..., object] | None, arguments: tuple[Any, ...]) -> None:
    """Leave Ctrl-C to the process that was started by a person, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if begin is not None:
        begin(*arguments)


def _end_with_parent() -> None:
    """Wait until the process that started this one is no more: who is killed stops nobody, and nobody reads on."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
