"""Many worlds, one after another or some at once, in the order of their seeds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from evercrawl.simulate.processes import processes
from evercrawl.simulate.simulation import simulate

if TYPE_CHECKING:
    from concurrent.futures import Future

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
    with processes(at_once) as pool:
        waiting: deque[Future[Result]] = deque(pool.submit(simulate, seed) for seed in islice(coming, _AHEAD * at_once))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(simulate, seed) for seed in islice(coming, 1))
            yield result
