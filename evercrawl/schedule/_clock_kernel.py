"""The folder clocks' inner loops: how long pages were exposed, and what visits teach; `clocks` tells the meaning."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.schedule._clock_layout import (
    ADVANTAGE,
    BINS,
    CHANGES,
    EXCESS,
    EXPECTED,
    FACTOR,
    FOLDER,
    FOUND,
    FULL,
    GAIN,
    GROUP,
    JOINED,
    NONE,
    PAGE,
    PARTS,
    PLAIN_CHANGES,
    PLAIN_WAITED,
    RATE,
    RENEWED,
    RING,
    SHAPE,
    SITE_COLUMNS,
    SPREAD,
    STAYED,
    WAITED,
)

_FLOATS: Final = pointer(np.float64)
_SHORT: Final = pointer(np.float32)
_INTS: Final = pointer(np.int64)
_SLOTS: Final = pointer(np.uint32)
_FLAGS: Final = pointer(np.bool_)
_PAGES, _FOLDERS, _GROUPS = pointer(PAGE), pointer(FOLDER), pointer(GROUP)

WIDTH, CYCLE, SITE_VARIES, FOLDER_VARIES, BURST, BURST_LASTS, FORGET, TOGETHER, FIRST_GAP, CRAWL = range(10)
SETTINGS: Final = CRAWL + 8 + 3 * PARTS
"""Numbers that all loops need: the width of a bin, a cycle, how clocks vary, bursts, what is forgotten in a cycle, how
near changes are together, the gap between changes that is supposed at first; then of the whole crawl: changes, seconds,
and of each part the changes due to it, those foretold, and what it gained; how many visits told; changes and seconds
as time alone tells them, the clocks' advantage over that; changes beyond
those foretold, and the variance of that."""
_MOST: Final = 0.95  # that a page joined what its like did
_FIRST_PARTS: Final = (0.2, 0.8, 1.0, 1.0, 1.0)
_PRIOR: Final = 20.0  # changes that a factor is worth before any was seen
_GAINED: Final = 200.0  # visits to a site that the whole crawl's count as
_GAIN_MOST: Final = 5.0
_MARGIN: Final = 3.0  # of the logarithm, before clocks are believed: they have more to be wrong in
_PLAIN_SHAPE: Final = 0.4
_FADES: Final = 0.002  # of a site's gains, a visit
_GAPS: Final = 3.0  # changes that the rate of what is above is worth below
_FIRST_SHAPE: Final = (30.0, 50.0, 0.15, 6.0)


@compiled
def log1p(x: float) -> float:
    """Return ln(1 + x)."""
    whole = 1.0 + x  # what is lost here is made good by the quotient
    return x if whole == 1.0 else math.log(whole) * x / (whole - 1.0)


@compiled
def expm1(x: float) -> float:
    """Return exp(x) - 1, for the same reason by a quotient."""
    whole = math.exp(x)
    if whole == 1.0:
        return x
    return -1.0 if whole < 1e-17 else (whole - 1.0) * x / math.log(whole)


@compiled
def _advance(ring: int, head: int, heads: Any, changes: Any, expected: Any) -> None:
    """Let a ring reach up to the bin `head`."""
    begin = max(heads[ring] + 1, head - BINS + 1)
    for k in range(begin, head + 1):
        changes[ring, k % BINS] = 0.0
        expected[ring, k % BINS] = 0.0
    heads[ring] = max(heads[ring], head)


@compiled
def _renew(folder: Any, site: Any, now: float, s: Any, rings: Any) -> None:
    """Work out how far the clock of a folder went from each bin's beginning up to now."""
    heads, done, at, changes, expected, clock = rings
    head = np.int64(math.floor(now / s[WIDTH]))
    whole = np.int64(site[RING])
    own = np.int64(folder.ring) if folder.ring != NONE else whole
    if done[own] == head:
        return
    _advance(whole, head, heads, changes, expected)
    _advance(own, head, heads, changes, expected)
    total, over_site, over_folder = 0.0, 1.0 / s[SITE_VARIES], 1.0 / s[FOLDER_VARIES]
    for age in range(BINS):
        k = (head - age) % BINS
        wide = now - head * s[WIDTH] if age == 0 else s[WIDTH]
        passed = (wide * over_site + changes[whole, k]) / (over_site + expected[whole, k])
        if own != whole:
            passed = (passed * over_folder + changes[own, k]) / (over_folder + expected[own, k])
        total += passed
        clock[own, age] = total
    done[own], at[own] = head, now


@compiled
def _passed(folder: Any, site: Any, since: float, now: float, s: Any, rings: Any) -> float:
    """Return how far a folder's clock, renewed in this bin, went from `since` until `now`."""
    _, done, at, _, _, clock = rings
    own = np.int64(folder.ring) if folder.ring != NONE else np.int64(site[RING])
    width, head = s[WIDTH], done[own]
    later = max(now - at[own], 0.0)
    k = np.int64(math.floor(since / width))
    age = head - k
    if age >= BINS:
        return clock[own, BINS - 1] + (head - BINS + 1) * width - since + later
    if since >= at[own]:
        return max(now - since, 0.0)
    before = clock[own, age - 1] if age > 0 else 0.0
    end = at[own] if age == 0 else (k + 1) * width
    return before + (clock[own, age] - before) * (end - since) / max(end - k * width, 1e-9) + later


@compiled
def _renew_site(site: Any, now: float, s: Any) -> None:
    """Work out a site's shape, rate and factors from its sums, once a bin."""
    head = math.floor(now / s[WIDTH])
    if site[RENEWED] == head:
        return
    site[RENEWED] = head
    pulls, most = _FIRST_SHAPE[0], _FIRST_SHAPE[3]
    site[SHAPE] = min(max((site[SPREAD] + pulls) / (site[EXCESS] + _FIRST_SHAPE[1]), _FIRST_SHAPE[2]), most)
    if site[EXCESS] + _FIRST_SHAPE[1] <= 0.0:
        site[SHAPE] = most
    everywhere = (s[CRAWL] + 1.0) / (s[CRAWL + 1] + s[FIRST_GAP])
    site[RATE] = (site[CHANGES] + _GAPS) / (site[WAITED] + _GAPS / everywhere)
    for part in range(PARTS):
        first = _FIRST_PARTS[part]
        usual = (s[CRAWL + 2 + part] + _PRIOR) / (s[CRAWL + 2 + PARTS + part] + _PRIOR / first)
        site[FULL + part] = (site[FOUND + part] + _PRIOR) / (site[EXPECTED + part] + _PRIOR / usual)
    both = site[FULL] + site[FULL + 1]  # a unit of time is one on the mean, whichever clock tells it
    site[FULL] /= both
    site[FULL + 1] /= both
    for part in range(1, PARTS):
        gain = _GAINED * s[CRAWL + 2 + 2 * PARTS + part] / max(s[CRAWL + 2 + 3 * PARTS], _GAINED)
        gain = min(max(gain, -_GAIN_MOST), _GAIN_MOST) + site[GAIN + part]
        site[FACTOR + part] = site[FULL + part] / (1.0 + math.exp(-min(max(gain, -30.0), 30.0)))
    site[FACTOR] = 1.0 - site[FACTOR + 1]


@compiled
def _clocked(site: Any, s: Any) -> bool:
    """Tell whether clocks foretell a site's changes better than time alone."""
    crawl = _GAINED * s[CRAWL + 5 + 3 * PARTS] / max(s[CRAWL + 2 + 3 * PARTS], _GAINED)
    return site[ADVANTAGE] + min(max(crawl, -_GAIN_MOST), _GAIN_MOST) > _MARGIN


@compiled
def _plain(page: Any, site: Any, s: Any) -> tuple[float, float]:
    """Return shape and scale of a page's rate as time alone tells it."""
    everywhere = (s[CRAWL + 3 + 3 * PARTS] + 1.0) / (s[CRAWL + 4 + 3 * PARTS] + s[FIRST_GAP])
    rate = (site[PLAIN_CHANGES] + _GAPS) / (site[PLAIN_WAITED] + _GAPS / everywhere)
    return _PLAIN_SHAPE + page.plain_changes, _PLAIN_SHAPE / rate + page.plain_waited_s


@compiled
def _likelihood(shape: float, scale: float, exposure: float, changed: bool) -> float:
    """Return the logarithm of the probability of what a visit found."""
    fresh = -shape * log1p(max(exposure, 0.0) / scale)
    return math.log(max(-expm1(fresh), 1e-9)) if changed else fresh


@compiled
def _doubt(group: Any, since: float, usual: float) -> float:
    """Return -ln of the probability that a page did not join what its like did since it was visited."""
    if not since < group.newest_at:
        return 0.0
    joins = min((group.joined + usual) / (group.joined + group.stayed + 1.0), _MOST)
    return -math.log(1.0 - joins)


@compiled
def _exposed(
    page: Any, folder: Any, site: Any, cohorts: Any, siblings: Any, since: float, now: float, s: Any, rings: Any
) -> tuple[float, float, float, float, float, float, float, float]:
    """Return shape and scale of a page's rate, its exposure, and the parts of it."""
    rate = (folder.changes + _GAPS) / (folder.waited_s + _GAPS / site[RATE])
    shape, scale = site[SHAPE] + page.changes, site[SHAPE] / rate + page.waited_s
    passed = _passed(folder, site, since, now, s, rings)
    burst, together, alike = 0.0, 0.0, 0.0
    if page.changed_at > 0.0:
        lasts = s[BURST_LASTS]
        left = math.exp(-max(since - page.changed_at, 0.0) / lasts) - math.exp(-max(now - page.changed_at, 0.0) / lasts)
        burst = s[BURST] * lasts * max(left, 0.0)
    if page.cohort != NONE:
        usual = (site[JOINED] + 0.5) / (site[JOINED] + site[STAYED] + 5.0)
        together = _doubt(cohorts[page.cohort], since, usual) * scale / shape
    if page.sibling != NONE:
        usual = (site[JOINED + 1] + 0.5) / (site[JOINED + 1] + site[STAYED + 1] + 5.0)
        alike = _doubt(siblings[page.sibling], since, usual) * scale / shape
    waited = now - since
    exposure = (
        site[FACTOR] * waited + site[FACTOR + 1] * passed + site[FACTOR + 2] * burst
        + site[FACTOR + 3] * together + site[FACTOR + 4] * alike
    )  # fmt: skip
    return shape, scale, exposure, waited, passed, burst, together, alike


@entry(
    i64, _SLOTS, _FLOATS, i64, f64, _FLOATS, _PAGES, i64, _FOLDERS, i64, _FLOATS, i64, _GROUPS, i64, _GROUPS, i64,
    _INTS, _INTS, _FLOATS, _SHORT, _SHORT, _FLOATS, i64, _FLOATS, _FLOATS, _FLOATS, _FLOATS,
)  # fmt: skip
def exposures(
    slots: Any, visited_at: Any, n: int, now: float, settings: Any, page_rows: Any, pages: int, folder_rows: Any,
    folders: int, site_rows: Any, sites: int, cohort_rows: Any, cohorts: int, sibling_rows: Any, siblings: int,
    heads: Any, done: Any, at: Any, changes: Any, expected: Any, clock: Any, rings: int,
    shape: Any, scale: Any, exposure: Any, speed: Any,
) -> int:  # fmt: skip
    """Write shape and scale of the rate, exposure, and how fast it grows; leave pages alone that were never learned."""
    which, seen, s = view(slots, n), view(visited_at, n), view(settings, SETTINGS)
    page_, folder_, site_ = view(page_rows, pages), view(folder_rows, folders), view(site_rows, (sites, SITE_COLUMNS))
    cohort_, sibling_ = view(cohort_rows, cohorts), view(sibling_rows, siblings)
    ring = (
        view(heads, rings), view(done, rings), view(at, rings),
        view(changes, (rings, BINS)), view(expected, (rings, BINS)), view(clock, (rings, BINS)),
    )  # fmt: skip
    a, b, x, fast = view(shape, n), view(scale, n), view(exposure, n), view(speed, n)
    for i in range(n):
        if which[i] >= pages or not seen[i] <= now:
            continue
        page = page_[which[i]]
        if page.known == 0:
            continue
        folder = folder_[page.folder]
        site = site_[folder.site]
        _renew_site(site, now, s)
        if not _clocked(site, s):
            continue
        _renew(folder, site, now, s, ring)
        a[i], b[i], x[i], _, _, _, _, _ = _exposed(page, folder, site, cohort_, sibling_, seen[i], now, s, ring)
        fast[i] = 1.0
        if page.changed_at > 0.0:
            fast[i] += site[FACTOR + 2] * s[BURST] * math.exp(-max(now - page.changed_at, 0.0) / s[BURST_LASTS])
    return 0


@compiled
def _expect(ring: int, since: float, until: float, rate: float, s: Any, rings: Any) -> None:
    """Note in a ring that a page of that rate was watched for a time."""
    heads, _, _, _, expected, _ = rings
    width, head = s[WIDTH], heads[ring]
    for k in range(max(np.int64(math.floor(since / width)), head - BINS + 1), head + 1):
        share = (min(until, (k + 1) * width) - max(since, k * width)) / width
        if share > 0.0:
            expected[ring, k % BINS] += rate * share


@compiled
def _spread(ring: int, folder: Any, site: Any, since: float, until: float, count: float, s: Any, rings: Any) -> None:
    """Note in a ring changes that were made at some time, which the folder's clock makes more or less likely."""
    heads, _, _, changes, _, _ = rings
    width, head = s[WIDTH], heads[ring]
    whole = max(_passed(folder, site, since, until, s, rings), 1e-9)
    for k in range(max(np.int64(math.floor(since / width)), head - BINS + 1), head + 1):
        low, high = max(since, k * width), min(until, (k + 1) * width)
        if low < high:
            part = _passed(folder, site, low, until, s, rings) - _passed(folder, site, high, until, s, rings)
            changes[ring, k % BINS] += count * part / whole


@compiled
def _moments(shape: float, scale: float, exposure: float) -> tuple[float, float]:
    """Return what a change at some time of an exposure adds to shape and scale: the Gamma with the same two moments."""
    length = log1p(exposure / scale)
    some = -expm1(-shape * length)
    if exposure <= 1e-6 * scale or some <= 1e-12:
        return 1.0, 0.0
    mean = shape / scale * -expm1(-(shape + 1.0) * length) / some
    square = shape * (shape + 1.0) / (scale * scale) * -expm1(-(shape + 2.0) * length) / some
    varies = square - mean * mean
    if not varies > 1e-12 * mean * mean:
        return 1.0, 0.0
    return mean * mean / varies - shape, mean / varies - scale


@compiled
def _meet(group: Any, site: Any, kind: int, since: float, changed: bool, when: float, exact: bool, near: float) -> None:
    """Note in a group whether a page joined what another of it did; its own change may be the newest."""
    waiting = since < group.newest_at
    joined = changed and waiting and (not exact or when <= group.newest_at + near)
    if waiting and not joined:
        group.stayed += 1.0
        site[STAYED + kind] += 1.0
    if joined:
        group.joined += 1.0
        site[JOINED + kind] += 1.0
    elif changed and when > group.newest_at:
        group.newest_at, group.joined, group.stayed = when, 0.0, 0.0


@entry(
    i64, _SLOTS, _FLOATS, _FLOATS, _FLAGS, _FLOATS, i64, _FLOATS, _PAGES, i64, _FOLDERS, i64, _FLOATS, i64,
    _GROUPS, i64, _GROUPS, i64, _INTS, _INTS, _FLOATS, _SHORT, _SHORT, _FLOATS, i64,
)  # fmt: skip
def learn(
    slots: Any, visited_at: Any, interval_s: Any, changed: Any, age_s: Any, n: int, settings: Any, page_rows: Any,
    pages: int, folder_rows: Any, folders: int, site_rows: Any, sites: int, cohort_rows: Any, cohorts: int,
    sibling_rows: Any, siblings: int, heads: Any, done: Any, at: Any, changes: Any, expected: Any, clock: Any, rings: int,
) -> int:  # fmt: skip
    """Take in what visits after the first found."""
    which, when_at, gap, news = view(slots, n), view(visited_at, n), view(interval_s, n), view(changed, n)
    aged, s = view(age_s, n), view(settings, SETTINGS)
    page_, folder_, site_ = view(page_rows, pages), view(folder_rows, folders), view(site_rows, (sites, SITE_COLUMNS))
    cohort_, sibling_ = view(cohort_rows, cohorts), view(sibling_rows, siblings)
    ring = (
        view(heads, rings), view(done, rings), view(at, rings),
        view(changes, (rings, BINS)), view(expected, (rings, BINS)), view(clock, (rings, BINS)),
    )  # fmt: skip
    for i in range(n):
        now, since, dated = when_at[i], when_at[i] - gap[i], aged[i] == aged[i]
        page = page_[which[i]]
        folder = folder_[page.folder]
        site = site_[folder.site]
        whole = np.int64(site[RING])
        own = np.int64(folder.ring) if folder.ring != NONE else whole
        site[RENEWED], ring[1][own] = -1.0, -1  # nothing depends on when somebody asked for values meanwhile
        _renew_site(site, now, s)
        _renew(folder, site, now, s, ring)
        shape, scale, exposure, waited, passed, burst, together, alike = _exposed(
            page, folder, site, cohort_, sibling_, since, now, s, ring
        )
        exposure = max(exposure, 1e-9)
        rate, watched_from, when = shape / scale, since, now
        usual = (folder.changes + _GAPS) / (folder.waited_s + _GAPS / site[RATE])
        beyond = page.changes - usual * page.waited_s
        site[EXCESS] += (news[i] - usual * exposure) * beyond
        site[SPREAD] += usual * exposure * usual * page.waited_s
        level = rate * exposure
        count = level / -expm1(-level) if news[i] else 0.0
        shares = (waited, passed, burst, together, alike)
        whole_exposure = 1e-9
        for part, share in enumerate(shares):
            whole_exposure += site[FULL + part] * share
        s[CRAWL + 2 + 3 * PARTS] += 1.0
        for part, share in enumerate(shares):
            due = count * site[FULL + part] * share / whole_exposure
            if part > 0:
                without = exposure - site[FACTOR + part] * (share - (waited if part == 1 else 0.0))
                more = site[FULL + part] * (share - (waited if part == 1 else 0.0))
                gain = _likelihood(shape, scale, without + more, news[i]) - _likelihood(shape, scale, without, news[i])
                site[GAIN + part] += gain - _FADES * site[GAIN + part]
                s[CRAWL + 2 + 2 * PARTS + part] += gain
            site[FOUND + part] += due
            site[EXPECTED + part] += rate * share
            s[CRAWL + 2 + part] += due
            s[CRAWL + 2 + PARTS + part] += rate * share
        if not news[i]:
            more, longer = 0.0, exposure
        elif dated:
            when = watched_from = min(max(now - aged[i], since), now)
            more = 1.0
            longer = site[FACTOR] * (now - when) + site[FACTOR + 1] * _passed(folder, site, when, now, s, ring)
        else:
            when = 0.5 * (since + now)
            more, longer = _moments(shape, scale, exposure)
        _expect(own, watched_from, now, rate, s, ring)
        if own != whole:
            _expect(whole, watched_from, now, rate, s, ring)
        if news[i] and dated:
            k = np.int64(math.floor(when / s[WIDTH]))
            if k > ring[0][own] - BINS:
                ring[3][own, k % BINS] += 1.0
                if own != whole:
                    ring[3][whole, k % BINS] += 1.0
        elif news[i]:
            told = rate * passed
            told = told / -expm1(-told) if told > 1e-9 else 1.0
            _spread(own, folder, site, since, now, told, s, ring)
            if own != whole:
                _spread(whole, folder, site, since, now, told, s, ring)
        foretold = -expm1(-shape * log1p(exposure / scale))
        s[CRAWL + 6 + 3 * PARTS] = max(s[CRAWL + 6 + 3 * PARTS] + news[i] - foretold, 0.0)
        s[CRAWL + 7 + 3 * PARTS] += foretold * (1.0 - foretold)
        first, scaled = _plain(page, site, s)
        better = _likelihood(shape, scale, exposure, news[i]) - _likelihood(first, scaled, waited, news[i])
        site[ADVANTAGE] += better - _FADES * site[ADVANTAGE]
        s[CRAWL + 5 + 3 * PARTS] += better
        if not news[i]:
            one, seconds = 0.0, waited
        elif dated:
            one, seconds = 1.0, now - when
        else:
            one, seconds = _moments(first, scaled, waited)
        kept = math.exp(-s[FORGET] * gap[i] / s[CYCLE])
        page.changes = max((page.changes + more) * kept, -0.9 * site[SHAPE])
        page.waited_s = max((page.waited_s + longer) * kept, -0.9 * site[SHAPE] / usual)
        lasted = longer if dated or not news[i] else 0.5 * exposure
        page.plain_changes = max((page.plain_changes + one) * kept, -0.9 * _PLAIN_SHAPE)
        page.plain_waited_s = max((page.plain_waited_s + seconds) * kept, -0.9 * (scaled - page.plain_waited_s))
        since_then = seconds if dated or not news[i] else 0.5 * waited
        site[PLAIN_CHANGES] += news[i]
        site[PLAIN_WAITED] += since_then
        s[CRAWL + 3 + 3 * PARTS] += news[i]
        s[CRAWL + 4 + 3 * PARTS] += since_then
        folder.changes += news[i]
        folder.waited_s += lasted
        site[CHANGES] += news[i]
        site[WAITED] += lasted
        s[CRAWL] += news[i]
        s[CRAWL + 1] += lasted
        if page.cohort != NONE:
            _meet(cohort_[page.cohort], site, 0, since, news[i], when, dated, s[TOGETHER])
        if page.sibling != NONE:
            seen_at = when if dated else since
            _meet(sibling_[page.sibling], site, 1, since, news[i], seen_at, dated, 24.0 * s[TOGETHER])
        if news[i]:
            page.changed_at = when
    return 0
