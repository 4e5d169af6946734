"""A folder's clock, compiled: cells of observed changes and of changes expected at the usual speed.

A ring is 80 cells, in four levels: 32 of one bin each, then 16 of two, 16 of four and 16 of eight bins. So recent
history has a fine resolution and old history a coarse one; together they reach back 250 bins or more. When a bin begins
and a level is full, its oldest two cells become one cell of the next level. Ring 0 belongs to no owner: nothing is
recorded in it, and it runs as time does.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled
from evercrawl.schedule.clocks._layout import (
    CACHED,
    CELLS,
    CHANGES_SCALE,
    DITHER,
    EXPECTED_SCALE,
    FOLDER_VARIES,
    LEVELS,
    MOST_CODE,
    OWN_RING,
    PAGES,
    RING,
    SITE_VARIES,
    WIDTH,
)

_FINE: Final = 1.0 / 16_384  # initial unit of a ring, as a fraction of the first amount
_LEAST_CHANGES: Final = 1e-3
_LEAST_RATE: Final = 1e-12
_STEP: Final = 0.6180339887498949


class Rings(NamedTuple):
    """Row i is ring i: its newest bin, its number of writes, its units and a number that rounds them, its cells.

    The last three are cached clocks: the ring and time of each, the instant and the advance of the newest bin by then,
    and the advance from the beginning of each cell to that of the newest bin.
    """

    heads: NDArray[Any]
    versions: NDArray[Any]
    units: NDArray[Any]
    changes: NDArray[Any]
    expected: NDArray[Any]
    tags: NDArray[Any]
    times: NDArray[Any]
    clock: NDArray[Any]


@compiled
def ring_of(site: Any) -> int:
    """Return a site's ring."""
    return int(np.int64(site[RING])) if site[PAGES] >= OWN_RING else 0


@compiled
def own_ring(folder: Any, site: Any) -> int:
    """Return a folder's ring: its own if it has one, and enough pages, or else its site's."""
    return int(folder.ring) if folder.pages >= OWN_RING and folder.ring > 0 else ring_of(site)


@compiled
def bin_of(at: float, width: float) -> int:
    """Return the bin of an instant."""
    return int(np.int64(math.floor(at / width)))


@compiled
def _oldest(head: int, level: int) -> int:
    """Return the oldest bin of a level, in a ring whose newest is `head`."""
    first = (head - 30) & ~1
    if level == 0:
        return first
    first = (first - 29) & ~3
    if level == 1:
        return first
    first = (first - 57) & ~7
    return first if level == 2 else first - 128


@compiled
def _level(k: int, head: int) -> int:
    """Return the level of a bin; `LEVELS` if it is beyond all levels."""
    for level in range(LEVELS):
        if k >= _oldest(head, level):
            return level
    return LEVELS


@compiled
def _cell(k: int, level: int) -> int:
    """Return the cell of a bin."""
    return k & 31 if level == 0 else 16 + 16 * level + ((k >> level) & 15)


@compiled
def _halve(cells: Any, units: Any, which: int) -> None:
    """Double the unit of a ring."""
    for i in range(CELLS):
        cells[i] = (int(np.int64(cells[i])) + 1) >> 1
    units[which] *= 2.0


@compiled
def _put(cells: Any, units: Any, which: int, cell: int, code: int) -> None:
    while code > MOST_CODE:
        _halve(cells, units, which)
        code = (code + 1) >> 1
    cells[cell] = code


@compiled
def _add(cells: Any, units: Any, which: int, cell: int, amount: float) -> None:
    """Add to a cell; fractions of a unit are rounded up with the right frequency."""
    if amount <= 0.0:
        return
    if units[which] == 0.0:
        units[which] = max(amount, _LEAST_CHANGES if which == CHANGES_SCALE else _LEAST_RATE) * _FINE
    while amount > MOST_CODE * units[which]:
        _halve(cells, units, which)
    more = int(np.int64(math.floor(amount / units[which] + units[DITHER])))
    _put(cells, units, which, cell, int(np.int64(cells[cell])) + more)


@compiled
def _clear(ring: int, r: Rings) -> None:
    r.units[ring, CHANGES_SCALE] = 0.0
    r.units[ring, EXPECTED_SCALE] = 0.0
    for i in range(CELLS):
        r.changes[ring, i] = 0
        r.expected[ring, i] = 0


@compiled
def _advance(ring: int, head: int, r: Rings) -> None:
    """Extend a ring to the bin `head`; ring 0 is unchanged."""
    h = int(np.int64(r.heads[ring]))
    if ring == 0 or h >= head:
        return
    r.versions[ring] += 1
    if h < 0 or head - h > 256:
        _clear(ring, r)
        h = head
    while h < head:
        for level in range(LEVELS - 2, -1, -1):
            first = _oldest(h, level)
            for a in range(first, _oldest(h + 1, level), 2 << level):
                _join(ring, a, level, r)
        h += 1
        r.changes[ring, h & 31] = 0
        r.expected[ring, h & 31] = 0
    r.heads[ring] = h


@compiled
def _join(ring: int, a: int, level: int, r: Rings) -> None:
    """Merge two cells of a level into one of the next: changes are summed, and observed rates averaged."""
    one, other, to = _cell(a, level), _cell(a + (1 << level), level), _cell(a, level + 1)
    watched = (int(np.int64(r.expected[ring, one])) + int(np.int64(r.expected[ring, other])) + 1) >> 1
    made = int(np.int64(r.changes[ring, one])) + int(np.int64(r.changes[ring, other]))
    r.expected[ring, to] = watched
    _put(r.changes[ring], r.units[ring], CHANGES_SCALE, to, made)


@compiled
def reach(folder: Any, site: Any, now: float, s: Any, r: Rings) -> None:
    """Extend the rings of a folder and of its site to now, both equally far."""
    own, whole = own_ring(folder, site), ring_of(site)
    head = max(bin_of(now, s[WIDTH]), int(np.int64(r.heads[whole])), int(np.int64(r.heads[own])))
    _advance(whole, head, r)
    _advance(own, head, r)
    r.units[whole, DITHER] = (r.units[whole, DITHER] + _STEP) % 1.0
    r.units[own, DITHER] = (r.units[own, DITHER] + _STEP) % 1.0


@compiled
def _held(ring: int, a: int, level: int, r: Rings) -> tuple[float, float]:
    """Return the changes and observed rates in a range of bins; the ring may be older, and finer there."""
    h = int(np.int64(r.heads[ring]))
    if ring == 0 or a > h:
        return 0.0, 0.0
    if _level(a, h) == level:
        cell = _cell(a, level)
        made, watched = float(r.changes[ring, cell]), float(r.expected[ring, cell])
    else:
        made, watched, k, end = 0.0, 0.0, a, min(a + (1 << level), h + 1)
        while k < end:
            inner = _level(k, h)
            cell = _cell(k, inner)
            made += float(r.changes[ring, cell])
            watched += float(r.expected[ring, cell]) * (1 << inner)
            k += 1 << inner
        watched /= 1 << level
    return made * r.units[ring, CHANGES_SCALE], watched * r.units[ring, EXPECTED_SCALE]


@compiled
def _goes(whole: int, inner: int, a: int, level: int, time: float, s: Any, r: Rings) -> float:
    """Return the advance of a clock of two rings in a range of bins of the given duration."""
    over, over_in = 1.0 / s[SITE_VARIES], 1.0 / s[FOLDER_VARIES]
    made, watched = _held(whole, a, level, r)
    made_in, watched_in = _held(inner, a, level, r)
    passed = (time * over + made) / (over + watched)
    return float((passed * over_in + made_in) / (over_in + watched_in))


@compiled
def renew(folder: Any, site: Any, now: float, s: Any, r: Rings) -> None:
    """Compute the advance of a folder's clock from each cell's beginning up to now, unless it is cached."""
    whole, own = ring_of(site), own_ring(folder, site)
    if own == 0:
        return
    head, at = bin_of(now, s[WIDTH]), own % CACHED
    tag, times, inner = r.tags[at], r.times[at], own if own != whole else 0
    same = tag[0] == own and tag[1] == head and tag[2] == r.versions[whole] and tag[3] == r.versions[own]
    if not same:
        tag[0], tag[1], tag[2], tag[3] = own, head, r.versions[whole], r.versions[own]
        tag[4] = max(head, int(np.int64(r.heads[whole])), int(np.int64(r.heads[own])))
        _add_up(whole, inner, head, tag[4], r.clock[at], s, r)
    if (not same or times[0] != now) and head >= _oldest(tag[4], 0):
        times[0], times[1] = now, _goes(whole, inner, head, _level(head, tag[4]), now - head * s[WIDTH], s, r)


@compiled
def _add_up(whole: int, inner: int, head: int, reached: int, clock: Any, s: Any, r: Rings) -> None:
    """Write the advance of a clock from the beginning of each cell to that of the bin `head`."""
    gone, k = 0.0, head - 1
    clock[_cell(head, 0)] = 0.0
    for level in range(LEVELS):
        oldest, size = _oldest(reached, level), 1 << level
        a = (k >> level) << level
        while a >= oldest:
            gone += _goes(whole, inner, a, level, size * s[WIDTH], s, r)
            clock[_cell(a, level)] = gone
            a -= size
        k = min(k, oldest - 1)


@compiled
def passed(folder: Any, site: Any, since: float, now: float, s: Any, r: Rings) -> float:
    """Return the advance of a folder's clock, renewed for `now`, from `since` until then."""
    own, width = own_ring(folder, site), s[WIDTH]
    if own == 0 or since >= now:
        return max(now - since, 0.0)
    at, k = own % CACHED, bin_of(since, width)
    head, reached, newest, clock = r.tags[at, 1], r.tags[at, 4], r.times[at, 1], r.clock[at]
    if head < _oldest(reached, 0):  # the system clock was once far ahead
        return now - since
    if k >= head:
        return float(newest * (now - since) / max(now - head * width, 1e-9))
    level = _level(k, reached)
    if level == LEVELS:
        k = _oldest(reached, LEVELS - 1)
        return float(newest + clock[_cell(k, LEVELS - 1)] + (k * width - since))
    size = 1 << level
    a = (k >> level) << level
    end = a + size
    later = clock[_cell(end, _level(end, reached))] if end < head else 0.0
    part = (end * width - since) / (size * width)
    return float(newest + later + (clock[_cell(a, level)] - later) * part)


@compiled
def expect(ring: int, since: float, until: float, rate: float, width: float, r: Rings) -> None:
    """Record in a ring that a page of the given rate was observed for a time.

    Of the current bin only the elapsed part counts. Otherwise, with little of it observed, the changes found there
    would seem to have come in no time.
    """
    if ring == 0:
        return
    head = int(np.int64(r.heads[ring]))
    oldest, begin, end = _oldest(head, LEVELS - 1), bin_of(since, width), min(bin_of(until, width), head)
    cells, units = r.expected[ring], r.units[ring]
    r.versions[ring] += 1
    k = max(begin + 1, oldest)
    while k < end:  # bins observed completely
        level = _level(k, head)
        stop = min(((k >> level) + 1) << level, end)
        _add(cells, units, EXPECTED_SCALE, _cell(k, level), rate * (stop - k) / (1 << level))
        k = stop
    for k in range(begin, end + 1, max(end - begin, 1)):
        over = max(min(until - k * width, width), 1e-6 * width)  # elapsed part of the bin
        share = (min(until, (k + 1) * width) - max(since, k * width)) / over
        if share > 0.0 and k >= oldest:
            level = _level(k, head)
            _add(cells, units, EXPECTED_SCALE, _cell(k, level), rate * share / (1 << level))


@compiled
def found(ring: int, when: float, count: float, width: float, r: Rings) -> None:
    """Record in a ring a change of known date, and the changes that it may have hidden."""
    k, head = bin_of(when, width), int(np.int64(r.heads[ring]))
    level = _level(k, head)
    if ring and level < LEVELS and k <= head:
        r.versions[ring] += 1
        _add(r.changes[ring], r.units[ring], CHANGES_SCALE, _cell(k, level), count)


@compiled
def spread(ring: int, folder: Any, site: Any, since: float, until: float, count: float, s: Any, r: Rings) -> None:
    """Record in a ring changes of unknown time, distributed according to the folder's clock."""
    if ring == 0:
        return
    width, head = s[WIDTH], int(np.int64(r.heads[ring]))
    whole = max(passed(folder, site, since, until, s, r), 1e-9)
    r.versions[ring] += 1
    k = max(bin_of(since, width), _oldest(head, LEVELS - 1))
    while k <= head:
        level = _level(k, head)
        stop = min(((k >> level) + 1) << level, head + 1)
        low, high = max(since, k * width), min(until, stop * width)
        if low < high:
            part = passed(folder, site, low, until, s, r) - passed(folder, site, high, until, s, r)
            _add(r.changes[ring], r.units[ring], CHANGES_SCALE, _cell(k, level), count * part / whole)
        k = stop
