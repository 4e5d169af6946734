"""CPU time as an idle machine would need it: other programs on the same cores can double what a calculation takes."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_IDLE_S = 0.02


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of `work`, and its CPU seconds, divided by how slow the machine is just before and after it."""
    before, began = _slowness(), time.process_time()
    found = work()
    took_s = time.process_time() - began
    return found, 2 * took_s / (before + _slowness())


def _slowness() -> float:
    """Return how many times as long as on an idle machine a calculation takes now, at least 1."""
    began, number = time.process_time(), 0
    for i in range(300_000):
        number = number * 31 + i & 0xFFFF
    b",".join(b"%x" % i for i in range(60_000)).split(b",")
    return max((time.process_time() - began) / _IDLE_S, 1.0)
