"""The folder clocks' inner loop: how long pages were exposed to change; `clocks` tells the meaning."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.schedule._clock_chances import doubt
from evercrawl.schedule._clock_layout import (
    BINS,
    BURST,
    BURST_LASTS,
    BURSTS,
    CLOCK,
    COHORT,
    FACTOR,
    FOLDER,
    GROUP,
    JOINED,
    KNOWN,
    LEVEL,
    NAME,
    NONE,
    PAGE,
    RATE,
    SETTINGS,
    SHAPE,
    SIBLING,
    SITE_COLUMNS,
    SLOPE,
    STAYED,
    TIME,
)
from evercrawl.schedule._clock_rings import Rings, passed, renew
from evercrawl.schedule._clock_sites import GAPS, clocked, renew_site

_FLOATS: Final = pointer(np.float64)
_SHORT: Final = pointer(np.float32)
_INTS: Final = pointer(np.int64)
_SLOTS: Final = pointer(np.uint32)
MEMORY: Final = (
    _FLOATS, pointer(PAGE), i64, pointer(FOLDER), i64, _FLOATS, i64, pointer(GROUP), i64, pointer(NAME), i64,
    _INTS, _INTS, _FLOATS, _SHORT, _SHORT, _SHORT, i64,
)  # fmt: skip
"""Types of what both loops take last but for their answers: settings, tables and how long they are, and rings."""


class Exposed(NamedTuple):
    """A page's rate, its exposure, and the parts of it."""

    shape: float
    scale: float
    exposure: float
    waited: float
    passed: float
    burst: float
    together: float
    alike: float


@compiled
def usual_rate(folder: Any, site: Any) -> float:
    """Return the mean rate of a folder's pages, a second on its clock."""
    return float((folder.changes + GAPS) / (folder.waited_s + GAPS / site[RATE]))


@compiled
def usual_joining(site: Any, kind: int) -> float:
    """Return how often pages of a site do what their like did: cohorts are kind 0, siblings 1."""
    return float((site[JOINED + kind] + 0.5) / (site[JOINED + kind] + site[STAYED + kind] + 5.0))


@compiled
def _burst(page: Any, since: float, now: float, s: Any) -> float:
    """Return how much exposure a page's own last change makes."""
    if not page.changed_at > 0.0:
        return 0.0
    before, after = max(since - page.changed_at, 0.0), max(now - page.changed_at, 0.0)
    lasts = s[BURST_LASTS]
    return float(s[BURST] * lasts * max(math.exp(-before / lasts) - math.exp(-after / lasts), 0.0))


@compiled
def exposed(
    page: Any, folder: Any, site: Any, cohorts: Any, siblings: Any, since: float, now: float, s: Any, r: Rings
) -> Exposed:
    """Return how exposed a page was since a visit, its site and its folder's clock being renewed."""
    rate = usual_rate(folder, site)
    shape, scale = site[SHAPE] + page.changes, site[SHAPE] / rate + page.waited_s
    together, alike = 0.0, 0.0
    if page.cohort != NONE:
        together = doubt(cohorts[page.cohort], since, usual_joining(site, 0)) * scale / shape
    if page.sibling != NONE:
        alike = doubt(siblings[page.sibling], since, usual_joining(site, 1)) * scale / shape
    waited, on_clock, burst = now - since, passed(folder, site, since, now, s, r), _burst(page, since, now, s)
    exposure = (
        site[FACTOR + TIME] * waited + site[FACTOR + CLOCK] * on_clock + site[FACTOR + BURSTS] * burst
        + site[FACTOR + COHORT] * together + site[FACTOR + SIBLING] * alike
    )  # fmt: skip
    return Exposed(shape, scale, exposure, waited, on_clock, burst, together, alike)


@entry(i64, _SLOTS, _FLOATS, i64, f64, *MEMORY, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS)
def exposures(
    slots: Any, visited_at: Any, n: int, now: float, settings: Any, page_rows: Any, pages: int, folder_rows: Any,
    folders: int, site_rows: Any, sites: int, cohort_rows: Any, cohorts: int, sibling_rows: Any, siblings: int,
    heads: Any, done: Any, at: Any, changes: Any, expected: Any, clock: Any, rings: int,
    shape: Any, scale: Any, exposure: Any, speed: Any, level: Any, slope: Any,
) -> int:  # fmt: skip
    """Write shape and scale of the rate, exposure, and how fast it grows; leave pages alone that were never learned."""
    which, seen, s = view(slots, n), view(visited_at, n), view(settings, SETTINGS)
    page_, folder_, site_ = view(page_rows, pages), view(folder_rows, folders), view(site_rows, (sites, SITE_COLUMNS))
    cohort_, sibling_ = view(cohort_rows, cohorts), view(sibling_rows, siblings)
    r = Rings(
        view(heads, rings), view(done, rings), view(at, rings),
        view(changes, (rings, BINS)), view(expected, (rings, BINS)), view(clock, (rings, BINS)),
    )  # fmt: skip
    a, b, x, fast = view(shape, n), view(scale, n), view(exposure, n), view(speed, n)
    raised, bent = view(level, n), view(slope, n)
    for i in range(n):
        if which[i] >= pages or not seen[i] <= now:
            continue
        page: Any = page_[which[i]]
        if page.known != KNOWN:
            continue
        folder: Any = folder_[page.folder]
        site: Any = site_[folder.site]
        raised[i], bent[i] = site[LEVEL], 1.0 + site[SLOPE]
        renew_site(site, now, s)
        if not clocked(site, s):
            continue
        renew(folder, site, now, s, r)
        found = exposed(page, folder, site, cohort_, sibling_, seen[i], now, s, r)
        a[i], b[i], x[i], fast[i] = found.shape, found.scale, found.exposure, 1.0
        if page.changed_at > 0.0:
            since_s = max(now - page.changed_at, 0.0)
            fast[i] += site[FACTOR + BURSTS] * s[BURST] * math.exp(-since_s / s[BURST_LASTS])
    return 0
