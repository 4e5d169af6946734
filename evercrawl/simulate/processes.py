"""Worker processes that end with the process that started them.

Also the simulation of many worlds, sequentially or concurrently, in the order of their seeds.
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

_AHEAD = 2  # worlds queued per process in advance


def simulate_many(seeds: Iterable[int], at_once: int = 1) -> Iterator[Result]:
    """Yield the result of each world; they run in processes of their own if `at_once` is more than one.

    Parameters
    ----------
    seeds
        May be endless; those queued in advance are dropped when the caller stops.
    at_once
        Number of concurrent worlds.
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
    """Provide a pool of processes; pending work is cancelled at the end, or on an exception.

    Parameters
    ----------
    count
        Maximum number of processes.
    begin, arguments
        Called first in each process.

    Raises
    ------
    EvercrawlError
        One of them was killed from outside.
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
                child.kill()  # a signal with a handler may be lost during start-up


def _begin(begin: Callable[..., object] | None, arguments: tuple[Any, ...]) -> None:
    """Leave Ctrl-C to the process started by a person, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if begin is not None:
        begin(*arguments)


def _end_with_parent() -> None:
    """Wait for the end of the parent process: a killed parent stops no worker, and nobody reads the results."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
