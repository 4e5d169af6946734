"""Compiled updates of windows after many visits; `importance.windows` has the readable reference for one visit."""

import math
from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view

_F: Final = pointer(np.float64)
_I: Final = pointer(np.int32)

WHOLE: Final = 3
VARIABLE: Final = 0
FIXED: Final = 1
IMPROVED: Final = 2


@entry(i64, _I, _F, _F, i64, _F, _F, _F, i64, f64)
def smooth(
    page: Any, earned: Any, clock: Any, visits: int, history: Any, mark: Any, missing: Any, n: int, length: float
) -> int:
    """Decay the sums, and add what was earned as if it had arrived evenly: the exponential window."""
    pages, cash, now = view(page, visits), view(earned, visits), view(clock, visits)
    h, last, gap = view(history, n), view(mark, n), view(missing, n)
    for k in range(visits):
        i = pages[k]
        passed = max(now[k] - last[i], 0.0) / length
        left = math.exp(-passed)
        h[i] = h[i] * left + cash[k] * (-_expm1(-passed) / passed if passed > 0.0 else 1.0)
        gap[i] *= left
        last[i] = now[k]
    return 0


@compiled
def _expm1(x: float) -> float:
    whole = math.exp(x)  # the quotient compensates the rounding error (Kahan)
    if whole == 1.0:
        return x
    return whole - 1.0 if whole < 0.5 else (whole - 1.0) * x / math.log(whole)


@entry(i64, _I, _F, _F, i64, _F, _F, _F, i64, f64)
def interpolate(
    page: Any, earned: Any, clock: Any, visits: int, history: Any, mark: Any, missing: Any, n: int, length: float
) -> int:
    """Reduce the history in proportion to the time since the last visit, and add what was earned: interpolation."""
    pages, cash, now = view(page, visits), view(earned, visits), view(clock, visits)
    h, last, gap = view(history, n), view(mark, n), view(missing, n)
    for k in range(visits):
        i = pages[k]
        elapsed = max(now[k] - last[i], 0.0)
        if elapsed >= length:
            h[i], gap[i] = cash[k] * length / elapsed, 0.0
        else:
            left = (length - elapsed) / length
            h[i], gap[i] = h[i] * left + cash[k], gap[i] * left
        last[i] = now[k]
    return 0


@compiled
def _shift(row: Any, begin: int, end: int) -> None:
    """Move the measures from `begin` to before `end` by one place."""
    for k in range(end - 1, begin - 1, -1):
        row[2 * k + 2], row[2 * k + 3] = row[2 * k], row[2 * k + 1]


@compiled
def _mean(row: Any, k: int) -> Any:
    """Return the mean clock of a measure and the next, weighted by cash."""
    older, younger = row[2 * k], row[2 * k + 2]
    cash, at = older + younger, row[2 * k + 3]
    return at - older * (at - row[2 * k + 1]) / cash if cash != 0.0 else at


@compiled
def _merge(row: Any, begin: int, end: int) -> None:
    """Merge the two neighbouring measures with the smallest error; this frees one place before `begin`."""
    best, least = begin, np.inf
    for k in range(begin, end - WHOLE - 2):
        at = _mean(row, k)
        wrong = row[2 * k] * (at - row[2 * k + 1]) + row[2 * k + 2] * (row[2 * k + 3] - at)
        if wrong < least:
            best, least = k, wrong
    row[2 * best + 3] = _mean(row, best)
    row[2 * best + 2] += row[2 * best]
    _shift(row, begin, best)


@compiled
def _holds(kind: int, row: Any, k: int, held: int, places: int, oldest: float) -> bool:
    """Return whether the oldest of `held` measures, at place `k`, remains in the window."""
    if kind == VARIABLE:
        return held <= places
    return row[2 * k + 1] >= oldest or (kind == IMPROVED and held <= WHOLE)


@entry(i64, _I, _F, _F, i64, _F, _F, i64, i64, i64, f64, _F)
def measure(
    page: Any, earned: Any, clock: Any, visits: int, mark: Any, kept: Any, n: int, places: int, kind: int,
    length: float, scratch: Any,
) -> int:  # fmt: skip
    """Add measures to those of each page; a row has the start of the first interval, then cash and clock of each."""
    pages, cash, now = view(page, visits), view(earned, visits), view(clock, visits)
    last, all_kept, row = view(mark, n), view(kept, (n, 1 + 2 * places)), view(scratch, 2 * places + 2)
    for k in range(visits):
        i = pages[k]
        end, at = places, max(now[k], last[i])
        for m in range(2 * places):
            row[m] = all_kept[i, 1 + m]
        begin = 0
        while begin < places and row[2 * begin + 1] == 0.0:
            begin += 1
        if begin < places and row[2 * places - 1] >= at:
            row[2 * places - 2] += cash[k]
        else:
            row[2 * places], row[2 * places + 1] = cash[k], at
            end += 1
        while not _holds(kind, row, begin, end - begin, places, at - length):
            all_kept[i, 0] = row[2 * begin + 1]
            begin += 1
        while end - begin > places:
            _merge(row, begin, end)
            begin += 1
        for m in range(2 * places):
            old = end - places + m // 2
            all_kept[i, 1 + m] = row[2 * (end - places) + m] if old >= begin else 0.0
        last[i] = now[k]
    return 0
