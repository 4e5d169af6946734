"""The folder clocks' inner loop: how long pages were exposed to change; `clocks` tells the meaning."""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.schedule.clocks._chances import doubt
from evercrawl.schedule.clocks._layout import (
    BINS,
    BURST,
    BURST_LASTS,
    BURSTS,
    CLOCK,
    COHORT,
    FACTOR,
    FOLDER,
    FOLDER_VARIES,
    GROUP,
    JOINED,
    KNOWN,
    LEVEL,
    NAME,
    NONE,
    PAGE,
    PLAIN_WAITED,
    RATE,
    SETTINGS,
    SHAPE,
    SIBLING,
    SITE_COLUMNS,
    SLOPE,
    STAYED,
    TIME,
    WAITED,
)
from evercrawl.schedule.clocks._rings import Rings, passed, renew
from evercrawl.schedule.clocks._sites import GAPS, clocked, renew_site

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
def seconds(site: Any) -> float:
    """Return how long a second on the clocks of a site takes on the mean: only by that can sites be compared."""
    few = GAPS / site[RATE]
    return float((site[PLAIN_WAITED] + few) / (site[WAITED] + few))


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


class Tables(NamedTuple):
    """All that clocks have learned, as arrays."""

    settings: Any
    pages: Any
    folders: Any
    sites: Any
    cohorts: Any
    siblings: Any
    rings: Rings


class Told(NamedTuple):
    """What is thought of a copy; `exposure` tells of each.

    `mates` is how many others of its folder its next visit tells of, and `jump` by how much their exposure grows if it
    finds a change; 0 where another page is to tell.
    """

    shape: float
    scale: float
    exposure: float
    speed: float
    level: float
    slope: float
    mates: float
    jump: float


@compiled
def tables(
    settings: Any, page_rows: Any, pages: int, folder_rows: Any, folders: int, site_rows: Any, sites: int,
    cohort_rows: Any, cohorts: int, sibling_rows: Any, siblings: int, heads: Any, done: Any, at: Any,
    changes: Any, expected: Any, clock: Any, rings: int,
) -> Tables:  # fmt: skip
    """Return what entries are given as `MEMORY`."""
    return Tables(
        view(settings, SETTINGS), view(page_rows, pages), view(folder_rows, folders),
        view(site_rows, (sites, SITE_COLUMNS)), view(cohort_rows, cohorts), view(sibling_rows, siblings),
        Rings(
            view(heads, rings), view(done, rings), view(at, rings),
            view(changes, (rings, BINS)), view(expected, (rings, BINS)), view(clock, (rings, BINS)),
        ),
    )  # fmt: skip


@compiled
def _jump(site: Any, rate: float, s: Any) -> float:
    """Return how far a folder's clock is thought to have gone at once, where a page of that rate is found changed."""
    return float(site[FACTOR + CLOCK] * s[FOLDER_VARIES] / (1.0 + s[FOLDER_VARIES] * rate))


@compiled
def by_age(visited_at: float, shape: float, scale: float, now: float) -> Told:
    """Return what time alone tells of a copy; its exposure is nan where there is none."""
    return Told(shape, scale, 0.0 if visited_at > now else now - visited_at, 1.0, 0.0, 1.0, 0.0, 0.0)


@compiled
def by_clock(slot: Any, visited_at: float, shape: float, scale: float, now: float, t: Tables) -> Told:
    """Return what the clock of its folder tells of a copy; what time does where clocks are not believed, or unknown."""
    plain = by_age(visited_at, shape, scale, now)
    if slot >= len(t.pages) or not visited_at <= now:
        return plain
    page: Any = t.pages[slot]
    if page.known != KNOWN:
        return plain
    folder: Any = t.folders[page.folder]
    site: Any = t.sites[folder.site]
    s, level, slope = t.settings, site[LEVEL], 1.0 + site[SLOPE]
    renew_site(site, now, s)
    if not clocked(site, s):
        return Told(shape, scale, plain.exposure, 1.0, level, slope, 0.0, 0.0)
    renew(folder, site, now, s, t.rings)
    found = exposed(page, folder, site, t.cohorts, t.siblings, visited_at, now, s, t.rings)
    speed = 1.0
    if page.changed_at > 0.0:
        since_s = max(now - page.changed_at, 0.0)
        speed += site[FACTOR + BURSTS] * s[BURST] * math.exp(-since_s / s[BURST_LASTS])
    unit = seconds(site)
    mates = folder.pages - 1.0 if folder.scout == slot and folder.pages > 1.0 else 0.0
    jump = _jump(site, found.shape / found.scale, s) * unit if mates > 0.0 else 0.0
    return Told(found.shape, found.scale * unit, found.exposure * unit, speed * unit, level, slope, mates, jump)


@entry(i64, _SLOTS, _FLOATS, i64, f64, *MEMORY, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS)
def exposures(
    slots: Any, visited_at: Any, n: int, now: float, settings: Any, page_rows: Any, pages: int, folder_rows: Any,
    folders: int, site_rows: Any, sites: int, cohort_rows: Any, cohorts: int, sibling_rows: Any, siblings: int,
    heads: Any, done: Any, at: Any, changes: Any, expected: Any, clock: Any, rings: int,
    shape: Any, scale: Any, exposure: Any, speed: Any, level: Any, slope: Any,
) -> int:  # fmt: skip
    """Write what is thought of copies over what time alone tells of them."""
    t = tables(
        settings, page_rows, pages, folder_rows, folders, site_rows, sites, cohort_rows, cohorts, sibling_rows,
        siblings, heads, done, at, changes, expected, clock, rings,
    )  # fmt: skip
    which, seen, a, b, x = view(slots, n), view(visited_at, n), view(shape, n), view(scale, n), view(exposure, n)
    fast, raised, bent = view(speed, n), view(level, n), view(slope, n)
    for i in range(n):
        told = by_clock(np.int64(which[i]), seen[i], a[i], b[i], now, t)
        a[i], b[i], x[i], fast[i], raised[i], bent[i], _, _ = told
    return 0
