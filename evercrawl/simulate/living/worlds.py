"""Runs of the demonstration's other worlds on a virtual clock, in processes beside the real-time one."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from queue import Queue
from types import TracebackType
from typing import Self

from evercrawl.simulate.living.comparison import BenchWorld, PolicyComparison, compare

_NICE = 10  # the real-time crawl has priority


class Worlds:
    """Runs comparisons of worlds, some of them concurrently.

    Parameters
    ----------
    worlds
        The worlds to compare.

    Examples
    --------
    ::

        with Worlds(worlds) as others:
            others.begin(at_once=1)
            ...
            for comparison in others.results(at_once=2):
                print(comparison)
    """

    def __init__(self, worlds: Sequence[BenchWorld]) -> None:
        self._left = list(worlds)
        self._count = len(worlds)
        self._at_once = self._under_way = 0
        self._ended: Queue[Future[PolicyComparison]] = Queue()
        self._guard = threading.Lock()
        spawn = multiprocessing.get_context("spawn")  # a fork would share the event loop
        self._pool = ProcessPoolExecutor(os.cpu_count() or 1, mp_context=spawn, initializer=_yield_and_ignore)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop running comparisons."""
        with self._guard:
            self._left.clear()
            if self._under_way:
                for child in multiprocessing.active_children():
                    child.terminate()
        self._pool.shutdown(cancel_futures=True)

    def begin(self, at_once: int) -> None:
        """Start as many as may run at once; the others follow as these end."""
        with self._guard:
            self._at_once = at_once
            while self._left and self._under_way < at_once:
                self._under_way += 1
                self._pool.submit(compare, self._left.pop(0)).add_done_callback(self._end)

    def results(self, at_once: int) -> Iterator[PolicyComparison]:
        """Yield each comparison as it completes."""
        self.begin(at_once)
        for _ in range(self._count):
            yield self._ended.get().result()

    def _end(self, future: Future[PolicyComparison]) -> None:
        with self._guard:
            self._under_way -= 1
        self._ended.put(future)
        if not future.cancelled() and future.exception() is None:
            self.begin(self._at_once)


def _yield_and_ignore() -> None:
    """Lower the priority, and leave Ctrl-C to the process started by a person."""
    os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
