"""The folder clocks' inner loop, which computes the exposures of pages; `clocks` documents the model."""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.addresses import floats_at, ints_at, pointer_at
from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.schedule.clocks._chances import doubt
from evercrawl.schedule.clocks._layout import (
    AT_CHANGES,
    AT_CLOCK,
    AT_COHORTS,
    AT_EXPECTED,
    AT_FOLDERS,
    AT_HEADS,
    AT_KIN,
    AT_PAGES,
    AT_SETTINGS,
    AT_SIBLINGS,
    AT_SITES,
    AT_TAGS,
    AT_TIMES,
    AT_UNITS,
    AT_VERSIONS,
    BURST,
    BURST_LASTS,
    BURSTS,
    CACHED,
    CELLS,
    CLOCK,
    COHORT,
    FACTOR,
    FOLDER,
    FOLDER_VARIES,
    GROUP,
    JOINED,
    KIN,
    KNOWN,
    LEVEL,
    MEMORY,
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
from evercrawl.schedule.clocks._sites import GAPS, consulted, renew_site

_FLOATS: Final = pointer(np.float64)
WORDS: Final = pointer(np.int64)
"""Type of the argument of both loops that holds the whole state: `AT_SETTINGS` and what follows."""
_pages_at: Final = pointer_at(PAGE)
_folders_at: Final = pointer_at(FOLDER)
_groups_at: Final = pointer_at(GROUP)
_names_at: Final = pointer_at(NAME)
_shorts_at: Final = pointer_at(np.float32)
_codes_at: Final = pointer_at(np.uint16)
_words_at: Final = pointer_at(np.uint32)


class Exposed(NamedTuple):
    """A page's rate, its exposure, and the parts of the exposure."""

    shape: float
    scale: float
    exposure: float
    waited: float
    passed: float
    burst: float
    together: float
    alike: float
    akin: float


@compiled
def usual_rate(folder: Any, site: Any) -> float:
    """Return the mean rate of a folder's pages, per second on its clock."""
    return float((folder.changes + GAPS) / (folder.waited_s + GAPS / site[RATE]))


@compiled
def usual_joining(site: Any, kind: int) -> float:
    """Return how often pages of a site join the changes of similar pages: kinds are cohorts 0, siblings 1, kin 2."""
    return float((site[JOINED + kind] + 0.5) / (site[JOINED + kind] + site[STAYED + kind] + 5.0))


@compiled
def seconds(site: Any) -> float:
    """Return the mean length of a second on the clocks of a site, in seconds; it makes sites comparable."""
    few = GAPS / site[RATE]
    return float((site[PLAIN_WAITED] + few) / (site[WAITED] + few))


@compiled
def _burst(page: Any, since: float, now: float, s: Any) -> float:
    """Return the exposure due to a page's own last change."""
    if not page.changed_at > 0.0:
        return 0.0
    before, after = max(since - page.changed_at, 0.0), max(now - page.changed_at, 0.0)
    lasts = s[BURST_LASTS]
    return float(s[BURST] * lasts * max(math.exp(-before / lasts) - math.exp(-after / lasts), 0.0))


class Tables(NamedTuple):
    """The whole state of clocks, as arrays."""

    settings: Any
    pages: Any
    folders: Any
    sites: Any
    cohorts: Any
    siblings: Any
    kin: Any
    rings: Rings


@compiled
def exposed(page: Any, folder: Any, site: Any, t: Tables, since: float, now: float) -> Exposed:
    """Return the exposure of a page since a visit; its site and its folder's clock are up to date."""
    s, r = t.settings, t.rings
    rate = usual_rate(folder, site)
    shape, scale = site[SHAPE] + page.changes, site[SHAPE] / rate + page.waited_s
    together, alike, akin = 0.0, 0.0, 0.0
    if page.cohort != NONE:
        together = doubt(t.cohorts[page.cohort], since, usual_joining(site, 0)) * scale / shape
    if page.sibling != NONE:
        alike = doubt(t.siblings[page.sibling], since, usual_joining(site, 1)) * scale / shape
    if page.kin != NONE:
        akin = doubt(t.kin[page.kin], since, usual_joining(site, 2)) * scale / shape
    waited, on_clock, burst = now - since, passed(folder, site, since, now, s, r), _burst(page, since, now, s)
    exposure = (
        site[FACTOR + TIME] * waited + site[FACTOR + CLOCK] * on_clock + site[FACTOR + BURSTS] * burst
        + site[FACTOR + COHORT] * together + site[FACTOR + SIBLING] * alike + site[FACTOR + KIN] * akin
    )  # fmt: skip
    return Exposed(shape, scale, exposure, waited, on_clock, burst, together, alike, akin)


class CopyBelief(NamedTuple):
    """The posterior state of a copy; `exposure` documents the terms.

    `mates` is the number of other pages of its folder about which its next visit is informative, and `jump` is the
    growth of their exposure if it finds a change; 0 if another page is the informative one.
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
def tables(words: Any) -> Tables:
    """Return the tables that entries receive as `WORDS`."""
    at = view(words, MEMORY)
    return Tables(
        view(floats_at(at[AT_SETTINGS]), SETTINGS), view(_pages_at(at[AT_PAGES]), at[AT_PAGES + 1]),
        view(_folders_at(at[AT_FOLDERS]), at[AT_FOLDERS + 1]),
        view(floats_at(at[AT_SITES]), (at[AT_SITES + 1], SITE_COLUMNS)),
        view(_groups_at(at[AT_COHORTS]), at[AT_COHORTS + 1]), view(_names_at(at[AT_SIBLINGS]), at[AT_SIBLINGS + 1]),
        view(_names_at(at[AT_KIN]), at[AT_KIN + 1]),
        Rings(
            view(ints_at(at[AT_HEADS]), at[AT_HEADS + 1]), view(_words_at(at[AT_VERSIONS]), at[AT_VERSIONS + 1]),
            view(_shorts_at(at[AT_UNITS]), (at[AT_UNITS + 1], 3)),
            view(_codes_at(at[AT_CHANGES]), (at[AT_CHANGES + 1], CELLS)),
            view(_codes_at(at[AT_EXPECTED]), (at[AT_EXPECTED + 1], CELLS)),
            view(ints_at(at[AT_TAGS]), (CACHED, 5)), view(floats_at(at[AT_TIMES]), (CACHED, 2)),
            view(_shorts_at(at[AT_CLOCK]), (CACHED, CELLS)),
        ),
    )  # fmt: skip


@compiled
def _jump(site: Any, rate: float, s: Any) -> float:
    """Return the estimated jump of a folder's clock if a page of the given rate is found changed."""
    return float(site[FACTOR + CLOCK] * s[FOLDER_VARIES] / (1.0 + s[FOLDER_VARIES] * rate))


@compiled
def by_age(visited_at: float, shape: float, scale: float, now: float) -> CopyBelief:
    """Return the state of a copy by time alone; its exposure is nan for unvisited pages."""
    return CopyBelief(shape, scale, 0.0 if visited_at > now else now - visited_at, 1.0, 0.0, 1.0, 0.0, 0.0)


class Mixture(NamedTuple):
    """The state of a copy by time and by the clock of its folder, and the probability that the clock is right.

    If that is 0 or 1, the other state must not be used.
    """

    time: CopyBelief
    clock: CopyBelief
    believed: float


@compiled
def mixture(row: Any, visited_at: float, shape: float, scale: float, now: float, t: Tables) -> Mixture:
    """Return the state of a copy under both models; by time alone if clocks do not know the page."""
    plain = by_age(visited_at, shape, scale, now)
    if row >= len(t.pages) or not visited_at <= now:
        return Mixture(plain, plain, 0.0)
    page: Any = t.pages[row]
    if page.known != KNOWN:
        return Mixture(plain, plain, 0.0)
    folder: Any = t.folders[page.folder]
    site: Any = t.sites[folder.site]
    s, level, slope = t.settings, site[LEVEL], 1.0 + site[SLOPE]
    renew_site(site, now, s)
    plain, trust = CopyBelief(shape, scale, plain.exposure, 1.0, level, slope, 0.0, 0.0), consulted(page, site, s)
    if trust == 0.0:
        return Mixture(plain, plain, 0.0)
    renew(folder, site, now, s, t.rings)
    found = exposed(page, folder, site, t, visited_at, now)
    speed = 1.0
    if page.changed_at > 0.0:
        since_s = max(now - page.changed_at, 0.0)
        speed += site[FACTOR + BURSTS] * s[BURST] * math.exp(-since_s / s[BURST_LASTS])
    unit = seconds(site)
    mates = folder.pages - 1.0 if folder.scout == row and folder.pages > 1.0 else 0.0
    jump = _jump(site, found.shape / found.scale, s) * unit if mates > 0.0 else 0.0
    told = CopyBelief(found.shape, found.scale * unit, found.exposure * unit, speed * unit, level, slope, mates, jump)
    return Mixture(plain, told, trust)


@entry(i64, pointer(np.uint32), _FLOATS, i64, f64, WORDS, _FLOATS)
def exposures(rows: Any, visited_at: Any, n: int, now: float, words: Any, told: Any) -> int:
    """Replace the states of copies by time alone with those of the likelier model: six rows, as in `Exposure`."""
    t, which, seen, out = tables(words), view(rows, n), view(visited_at, n), view(told, (6, n))
    for i in range(n):
        both = mixture(np.int64(which[i]), seen[i], out[0, i], out[1, i], now, t)
        found = both.clock if both.believed > 0.5 else both.time
        out[0, i], out[1, i], out[2, i], out[3, i], out[4, i], out[5, i], _, _ = found
    return 0
