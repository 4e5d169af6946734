"""A folder's clock, compiled: rings of bins, of changes seen and of changes expected at the usual speed.

Ring 0 belongs to nobody: nothing is noted in it, and it goes as time does.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled, view
from evercrawl.kernels.scratch import scratch
from evercrawl.schedule.clocks._layout import BINS, FOLDER_VARIES, OWN_RING, PAGES, RING, SITE_VARIES, WIDTH

_LAST: Final = BINS - 1
_QUARTER: Final = BINS // 4


class Rings(NamedTuple):
    """Row i is ring i: its newest bin, the bin in which its clock was worked out and when, and the bins' own numbers.

    A bin k (the time from k times its width on) lies in column k mod BINS; how far the clock went since the beginning
    of a bin lies in the column of its age in bins.
    """

    heads: NDArray[Any]
    done: NDArray[Any]
    at: NDArray[Any]
    changes: NDArray[Any]
    expected: NDArray[Any]
    clock: NDArray[Any]


@compiled
def ring_of(site: Any) -> int:
    """Return a site's ring."""
    return int(np.int64(site[RING])) if site[PAGES] >= OWN_RING else 0


@compiled
def own_ring(folder: Any, site: Any) -> int:
    """Return a folder's ring: its own where it has pages enough, or else its site's."""
    return int(np.int64(folder.ring)) if folder.pages >= OWN_RING else ring_of(site)


@compiled
def bin_of(at: float, width: float) -> int:
    """Return the bin in which an instant lies."""
    return int(np.int64(math.floor(at / width)))


@compiled
def _advance(ring: int, head: int, r: Rings) -> None:
    """Let a ring reach up to the bin `head`."""
    for k in range(max(r.heads[ring] + 1, head - BINS + 1), head + 1):
        r.changes[ring, k % BINS] = 0.0
        r.expected[ring, k % BINS] = 0.0
    r.heads[ring] = max(r.heads[ring], head)


@compiled
def _goes(ring: int, k: int, passed: float, over: float, r: Rings) -> float:
    """Return how far a clock went in bin `k`, that was thought to go `passed`; `over` is one through its variance."""
    if ring == 0 or k <= r.heads[ring] - BINS:  # the machine's clock was ahead of now once: this bin has gone
        return passed
    return float((passed * over + r.changes[ring, k % BINS]) / (over + r.expected[ring, k % BINS]))


@compiled
def renew(folder: Any, site: Any, now: float, s: Any, r: Rings) -> None:
    """Work out how far the clock of a folder went from each bin's beginning up to now, once a bin."""
    head, whole, own = bin_of(now, s[WIDTH]), ring_of(site), own_ring(folder, site)
    if r.done[own] == head:
        return
    _advance(whole, head, r)
    _advance(own, head, r)
    goes = view(scratch(), BINS)
    _work_out(goes, whole, own if own != whole else 0, head, now, s, r)
    _add_up(goes, head % BINS, r.clock[own])
    r.done[own], r.at[own] = head, now


@compiled
def _work_out(goes: Any, whole: int, inner: int, head: int, now: float, s: Any, r: Rings) -> None:
    """Write how far a clock of two rings went in each bin, as these lie; in ring 0 is nothing, which changes nothing.

    Learning takes most of its time here: one loop that several bins at once can go through, with one division.
    """
    width, over_whole, over_inner = s[WIDTH], 1.0 / s[SITE_VARIES], 1.0 / s[FOLDER_VARIES]
    made, expected, made_in, expected_in = r.changes[whole], r.expected[whole], r.changes[inner], r.expected[inner]
    for k in range(BINS):
        over, over_in = over_whole + expected[k], over_inner + expected_in[k]
        goes[k] = ((width * over_whole + made[k]) * over_inner + made_in[k] * over) / (over * over_in)
    gone = min(max(r.heads[whole], r.heads[inner], head) - head, BINS - 1)  # of the oldest: rings may reach beyond now
    for age in range(BINS - gone, BINS):
        passed = _goes(whole, head - age, width, over_whole, r)
        goes[(head - age) % BINS] = _goes(inner, head - age, passed, over_inner, r)
    passed = _goes(whole, head, now - head * width, over_whole, r)
    goes[head % BINS] = _goes(inner, head, passed, over_inner, r)


@compiled
def _add_up(goes: Any, newest: int, clock: Any) -> None:
    """Write how far a clock went since each bin began, the newest first: four sums at once, for each has to wait."""
    sums, a, b, c, d = view(scratch(), BINS), 0.0, 0.0, 0.0, 0.0
    for age in range(_QUARTER):
        a += goes[(newest - age) & _LAST]
        b += goes[(newest - age - _QUARTER) & _LAST]
        c += goes[(newest - age - 2 * _QUARTER) & _LAST]
        d += goes[(newest - age - 3 * _QUARTER) & _LAST]
        sums[age], sums[age + _QUARTER], sums[age + 2 * _QUARTER], sums[age + 3 * _QUARTER] = a, b, c, d
    for age in range(_QUARTER):
        clock[age] = sums[age]
        clock[age + _QUARTER] = a + sums[age + _QUARTER]
        clock[age + 2 * _QUARTER] = a + b + sums[age + 2 * _QUARTER]
        clock[age + 3 * _QUARTER] = a + b + c + sums[age + 3 * _QUARTER]


@compiled
def passed(folder: Any, site: Any, since: float, now: float, s: Any, r: Rings) -> float:
    """Return how far a folder's clock, renewed in this bin, went from `since` until `now`."""
    own, width = own_ring(folder, site), s[WIDTH]
    head, at, clock = r.done[own], r.at[own], r.clock[own]
    later = max(now - at, 0.0)
    k = bin_of(since, width)
    age = head - k
    if age >= BINS:
        return float(clock[BINS - 1] + (head - BINS + 1) * width - since + later)
    if since >= at:
        return max(now - since, 0.0)
    before = clock[age - 1] if age > 0 else 0.0
    end = at if age == 0 else (k + 1) * width
    return float(before + (clock[age] - before) * (end - since) / max(end - k * width, 1e-9) + later)


@compiled
def expect(ring: int, since: float, until: float, rate: float, width: float, r: Rings) -> None:
    """Note in a ring that a page of that rate was watched for a time.

    Of the bin that has just begun it counts what is over: were it little that was seen, what was found there would have
    come in no time.
    """
    head = r.heads[ring] if ring else -1
    oldest, begin, end = head - BINS + 1, bin_of(since, width), min(bin_of(until, width), head)
    for k in range(max(begin + 1, oldest), end):  # watched from their beginning to their end
        r.expected[ring, k % BINS] += rate
    for k in range(begin, end + 1, max(end - begin, 1)):
        over = max(min(until - k * width, width), 1e-6 * width)  # how much of the bin is over
        share = (min(until, (k + 1) * width) - max(since, k * width)) / over
        if share > 0.0 and k >= oldest:
            r.expected[ring, k % BINS] += rate * share


@compiled
def found(ring: int, when: float, count: float, width: float, r: Rings) -> None:
    """Note in a ring a change whose date is known, and those that it may have hidden."""
    k = bin_of(when, width)
    if ring and k > r.heads[ring] - BINS:
        r.changes[ring, k % BINS] += count


@compiled
def spread(ring: int, folder: Any, site: Any, since: float, until: float, count: float, s: Any, r: Rings) -> None:
    """Note in a ring changes that were made at some time, which the folder's clock makes more or less likely."""
    width = s[WIDTH]
    head = r.heads[ring] if ring else -1
    whole = max(passed(folder, site, since, until, s, r), 1e-9)
    for k in range(max(bin_of(since, width), head - BINS + 1), head + 1):
        low, high = max(since, k * width), min(until, (k + 1) * width)
        if low < high:
            part = passed(folder, site, low, until, s, r) - passed(folder, site, high, until, s, r)
            r.changes[ring, k % BINS] += count * part / whole
