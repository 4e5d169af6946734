"""Many worlds, one after another or some at once, in the order of their seeds."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING

from evercrawl.simulate.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evercrawl.simulate.result import Result

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
    spawn = multiprocessing.get_context("spawn")  # a forked event loop would be shared
    with ProcessPoolExecutor(at_once, mp_context=spawn, initializer=_ignore_interrupts) as pool:
        waiting: deque[Future[Result]] = deque(pool.submit(simulate, seed) for seed in islice(coming, _AHEAD * at_once))
        try:
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(simulate, seed) for seed in islice(coming, 1))
                yield result
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that was started by a person."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
