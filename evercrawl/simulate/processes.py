"""Processes that work beside the one that a person started, and end with it.

Many worlds, one after another or some at once, in the order of their seeds.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from evercrawl.errors import EvercrawlError
from evercrawl.simulate.result import Result
from evercrawl.simulate.simulation import simulate

_AHEAD = 2  # worlds a process that are handed out before their turn


def simulate_many(seeds: Iterable[int], at_once: int = 1) -> Iterator[Result]:
    """Yield what became of each world; some live in processes of their own where `at_once` is more than one.

    Parameters
    ----------
    seeds
        May be endless; those that lie ahead are lost when the asker has seen enough.
    at_once
        How many live at the same time.
    """
    if at_once == 1:
        yield from map(simulate, seeds)
        return
    coming = iter(seeds)
    with processes(at_once) as pool:
        waiting: deque[Future[Result]] = deque(pool.submit(simulate, seed) for seed in islice(coming, _AHEAD * at_once))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(simulate, seed) for seed in islice(coming, 1))
            yield result


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
                "a worker process was killed, perhaps because memory ran out; use a smaller --jobs"
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
