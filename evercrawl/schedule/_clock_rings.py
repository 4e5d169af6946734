"""A folder's clock, compiled: rings of bins, of changes seen and of changes expected at the usual speed.

Ring 0 belongs to nobody: nothing is noted in it, and it goes as time does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.schedule._clock_layout import BINS, FOLDER_VARIES, OWN_RING, PAGES, RING, SITE_VARIES, WIDTH

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    total, over_site, over_folder = 0.0, 1.0 / s[SITE_VARIES], 1.0 / s[FOLDER_VARIES]
    for age in range(BINS):
        wide = now - head * s[WIDTH] if age == 0 else s[WIDTH]
        passed = _goes(whole, head - age, wide, over_site, r)
        if own != whole:
            passed = _goes(own, head - age, passed, over_folder, r)
        total += passed
        r.clock[own, age] = total
    r.done[own], r.at[own] = head, now


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
    for k in range(max(bin_of(since, width), head - BINS + 1), head + 1):
        over = max(min(until - k * width, width), 1e-6 * width)  # how much of the bin is over
        share = (min(until, (k + 1) * width) - max(since, k * width)) / over
        if share > 0.0:
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
