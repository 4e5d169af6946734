"""The demonstration's other worlds, lived on a virtual clock in processes beside the one that is lived in real time."""

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

_NICE = 10  # the crawl in real time comes first


class Worlds:
    """Compares worlds, some of them at once.

    Parameters
    ----------
    worlds
        To be compared.

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
        spawn = multiprocessing.get_context("spawn")  # a forked event loop would be shared
        self._pool = ProcessPoolExecutor(os.cpu_count() or 1, mp_context=spawn, initializer=_yield_and_ignore)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what is under way."""
        with self._guard:
            self._left.clear()
            if self._under_way:
                for child in multiprocessing.active_children():
                    child.terminate()
        self._pool.shutdown(cancel_futures=True)

    def begin(self, at_once: int) -> None:
        """Start as many as may be under way from now on; the others follow as these end."""
        with self._guard:
            self._at_once = at_once
            while self._left and self._under_way < at_once:
                self._under_way += 1
                self._pool.submit(compare, self._left.pop(0)).add_done_callback(self._end)

    def results(self, at_once: int) -> Iterator[PolicyComparison]:
        """Yield each comparison once it is there."""
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
    """Leave the processor to whoever needs it now, and Ctrl-C to the process that was started by a person."""
    os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
