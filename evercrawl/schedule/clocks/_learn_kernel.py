"""The folder clocks' other loop, which learns from visits; `clocks` documents the model."""

import math
from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import compiled, entry, i64, pointer, view
from evercrawl.schedule.clocks._chances import at_least_one, expm1, likelihood, log1p, moments
from evercrawl.schedule.clocks._exposure_kernel import WORDS, Exposed, Tables, exposed, tables, usual_rate
from evercrawl.schedule.clocks._layout import (
    ALL_VISITS,
    BURSTS,
    CLOCK,
    COHORT,
    CYCLE,
    EXCESS,
    FACTOR,
    FORGET,
    FULL,
    JOINED,
    KIN,
    KNOWN,
    NONE,
    PAGES,
    RENEWED,
    SHAPE,
    SIBLING,
    SIBLINGS,
    SPREAD,
    STAYED,
    TIME,
    TOGETHER,
    UNKNOWN,
    WIDTH,
)
from evercrawl.schedule.clocks._rings import (
    Rings,
    bin_of,
    expect,
    found,
    own_ring,
    passed,
    reach,
    renew,
    ring_of,
    spread,
)
from evercrawl.schedule.clocks._sites import (
    PLAIN_SHAPE,
    consulted,
    note_gain,
    note_lengths,
    note_odds,
    note_part,
    note_surprise,
    plain,
    renew_site,
)
from evercrawl.schedule.clocks._truing import begin_claims, note_claim, odds, unbent

_FLOATS: Final = pointer(np.float64)
_LEAST: Final = -0.9  # maximum reduction of the prior
_NOTHING: Final = 1e-9
_LIKELY: Final = 0.5
_RESTLESS: Final = 2.0  # ratio to the usual rate above which a page is restless
_DAY_TOGETHER: Final = 24.0  # cohorts share an hour, siblings a day


@compiled
def _first(page: Any, folder: Any, site: Any, t: Tables, now: float, age: float) -> None:
    """Learn a page that is new or forgotten; its date gives its last change, or its creation."""
    if page.known == UNKNOWN:
        folder.pages += 1.0
        site[PAGES] += 1.0
        if page.sibling != NONE:
            _crowd(t.siblings[page.sibling])
        if page.kin != NONE:
            _crowd(t.kin[page.kin])
    page.known = KNOWN
    if age == age:
        page.changed_at = now - age


@compiled
def _crowd(group: Any) -> None:
    """Count one more page of a name or group of kin, as long as its size matters."""
    if group.pages <= SIBLINGS:
        group.pages += 1
    if group.pages > SIBLINGS:
        group.newest_at = np.nan


@compiled
def _meet(group: Any, site: Any, kind: int, since: float, changed: bool, when: float, dated: bool, near: float) -> None:
    """Record in a group whether a page joined another's change; its own change may be the newest."""
    waiting = since < group.newest_at
    joined = changed and waiting and (not dated or when <= group.newest_at + near)
    if waiting and not joined:
        group.stayed += 1
        site[STAYED + kind] += 1.0
    if joined:
        group.joined += 1
        site[JOINED + kind] += 1.0
    elif changed and when > group.newest_at:
        group.newest_at, group.joined, group.stayed = when, 0, 0


@compiled
def _evidence(
    changed: bool, dated: bool, shape: float, scale: float, length: float, own: float, since_change: float
) -> tuple[float, float, float]:
    """Return the increments of the shape and scale of a rate, and approximately how long the page had lasted.

    The evidence of others' changes is in units of the page's own rate, so it carries no information about that rate:
    `own` excludes it.
    """
    if not changed:
        return 0.0, own, own
    if dated:
        return 1.0, since_change, since_change
    more, longer = moments(shape, scale, length)
    return more, longer, 0.5 * own


@compiled
def _note_parts(was: Exposed, exposure: float, changed: bool, site: Any, s: Any) -> None:
    """Record for each part of the exposure what it predicted and caused, and its gain; for the clock, over time."""
    rate = was.shape / was.scale
    made = at_least_one(rate * exposure) if changed else 0.0
    time, clock, burst = (
        site[FULL + TIME] * was.waited,
        site[FULL + CLOCK] * was.passed,
        site[FULL + BURSTS] * was.burst,
    )
    together, alike = site[FULL + COHORT] * was.together, site[FULL + SIBLING] * was.alike
    akin = site[FULL + KIN] * was.akin
    each = made / (time + clock + burst + together + alike + akin + 1e-9)
    s[ALL_VISITS] += 1.0
    note_gain(CLOCK, was.passed - was.waited, was.shape, was.scale, exposure, changed, site, s)
    note_gain(BURSTS, was.burst, was.shape, was.scale, exposure, changed, site, s)
    note_gain(COHORT, was.together, was.shape, was.scale, exposure, changed, site, s)
    note_gain(SIBLING, was.alike, was.shape, was.scale, exposure, changed, site, s)
    note_gain(KIN, was.akin, was.shape, was.scale, exposure, changed, site, s)
    note_part(TIME, was.waited, rate, each * time, site, s)
    note_part(CLOCK, was.passed, rate, each * clock, site, s)
    note_part(BURSTS, was.burst, rate, each * burst, site, s)
    note_part(COHORT, was.together, rate, each * together, site, s)
    note_part(SIBLING, was.alike, rate, each * alike, site, s)
    note_part(KIN, was.akin, rate, each * akin, site, s)


@compiled
def _note_rings(
    folder: Any, site: Any, since: float, now: float, changed: bool, dated: bool, when: float, rate: float, s: Any,
    r: Rings,
) -> None:  # fmt: skip
    """Record the result of a visit in the rings of the folder and of the site."""
    own, whole = own_ring(folder, site), ring_of(site)
    low, high = since, now
    if changed and dated:  # the position within the bin is ignored: changes of a batch share an instant
        bin_at = bin_of(when, s[WIDTH]) * s[WIDTH]
        low, high = bin_at, min(now, bin_at + s[WIDTH])
    count = at_least_one(rate * (passed(folder, site, low, now, s, r) - passed(folder, site, high, now, s, r)))
    for k in range(1 if own == whole else 2):
        ring = whole if k else own
        expect(ring, low, now, rate, s[WIDTH], r)
        if changed and dated:
            found(ring, when, count, s[WIDTH], r)
        elif changed:
            spread(ring, folder, site, since, now, count, s, r)


@compiled
def _note_page(page: Any, site: Any, usual: float, on_clock: Any, plainly: Any, scaled: float, kept: float) -> None:
    """Add to the evidence of a page's rate, with forgetting."""
    page.changes = max((page.changes + on_clock[0]) * kept, _LEAST * site[SHAPE])
    page.waited_s = max((page.waited_s + on_clock[1]) * kept, _LEAST * site[SHAPE] / usual)
    first_scale = scaled - page.plain_waited_s
    page.plain_changes = max((page.plain_changes + plainly[0]) * kept, _LEAST * PLAIN_SHAPE)
    page.plain_waited_s = max((page.plain_waited_s + plainly[1]) * kept, _LEAST * first_scale)


@compiled
def _note_groups(page: Any, site: Any, t: Tables, since: float, changed: bool, when: float, dated: bool) -> None:
    """Record a page's result in its cohort, siblings and kin."""
    s, seen_at = t.settings, when if dated else since
    if page.cohort != NONE:
        _meet(t.cohorts[page.cohort], site, 0, since, changed, when, dated, s[TOGETHER])
    if page.sibling != NONE:
        _meet(t.siblings[page.sibling], site, 1, since, changed, seen_at, dated, _DAY_TOGETHER * s[TOGETHER])
    if page.kin != NONE:
        _meet(t.kin[page.kin], site, 2, since, changed, seen_at, dated, _DAY_TOGETHER * s[TOGETHER])


@compiled
def _note_spread(page: Any, site: Any, usual: float, exposure: float, changed: bool) -> None:
    """Record whether the page's excess so far predicted this result: evidence for the spread of its site's rates."""
    site[EXCESS] += (changed - usual * exposure) * (page.changes - usual * page.waited_s)
    site[SPREAD] += usual * exposure * usual * page.waited_s


@compiled
def _revisit(
    page: Any, folder: Any, site: Any, t: Tables, now: float, gap: float, changed: bool, age: float, claim: float,
    aged: float,
) -> None:  # fmt: skip
    """Learn from a visit after the first; `claim` is the predicted probability of a fresh copy, or nan.

    `aged` is the same prediction without clocks, nan if unknown.
    """
    since, dated, s, r = now - gap, age == age, t.settings, t.rings
    site[RENEWED] = -1.0  # so that queries in between make no difference
    renew_site(site, now, s)
    reach(folder, site, now, s, r)
    renew(folder, site, now, s, r)
    was: Exposed = exposed(page, folder, site, t, since, now)
    shape, scale, exposure = was.shape, was.scale, max(was.exposure, 1e-9)
    usual = usual_rate(folder, site)
    _note_spread(page, site, usual, exposure, changed)
    _note_parts(was, exposure, changed, site, s)
    when = min(max(now - age, since), now) if dated else 0.5 * (since + now)
    on_clock = site[FACTOR + TIME] * (now - when) + site[FACTOR + CLOCK] * passed(folder, site, when, now, s, r)
    others = site[FACTOR + COHORT] * was.together + site[FACTOR + SIBLING] * was.alike + site[FACTOR + KIN] * was.akin
    own = max(exposure - others, 1e-9)
    learned = _evidence(changed, dated, shape, scale, exposure, own, on_clock)
    first, scaled = plain(page, site, s)
    _note_rings(folder, site, since, now, changed, dated, when, first / scaled, s, r)
    foretold = likelihood(shape, scale, exposure, changed)
    trust = consulted(page, site, s)
    if trust > _LIKELY:  # otherwise others' changes do not cause a rescan
        note_surprise(-expm1(-shape * log1p(exposure / scale)), changed, s)
    begin_claims(bin_of(now, s[WIDTH]), site)
    if claim == claim:
        note_claim(unbent(claim, site), not changed, site)
    else:
        by_clock, by_time = likelihood(shape, scale, exposure, False), likelihood(first, scaled, gap, False)
        by_time = math.exp(by_time) if aged != aged else aged
        note_claim(odds(trust * math.exp(by_clock) + (1.0 - trust) * by_time), not changed, site)
    by_time = likelihood(first, scaled, gap, changed)
    if aged == aged:
        by_time = math.log(max(1.0 - aged if changed else aged, _NOTHING))
    note_odds(foretold - by_time, site, s)
    plainly = _evidence(changed, dated, first, scaled, gap, gap, now - when)
    _note_page(page, site, usual, learned, plainly, scaled, math.exp(-s[FORGET] * gap / s[CYCLE]))
    note_lengths(changed, learned[2], plainly[2], folder, site, s)
    _note_groups(page, site, t, since, changed, when, dated)
    if changed:
        page.changed_at = when


@compiled
def _tells(page: Any, folder: Any, site: Any) -> bool:
    """Return whether a page's changes are informative about its folder: those of a restless page are not."""
    usual = usual_rate(folder, site)
    return bool((site[SHAPE] + page.changes) / (site[SHAPE] / usual + page.waited_s) < _RESTLESS * usual)


@entry(i64, pointer(np.uint32), _FLOATS, _FLOATS, pointer(np.bool_), _FLOATS, _FLOATS, _FLOATS, i64, WORDS)
def learn(
    rows: Any, visited_at: Any, interval_s: Any, changed: Any, age_s: Any, claimed: Any, unclocked: Any, n: int,
    words: Any,
) -> int:  # fmt: skip
    """Learn from the results of visits, in order; of an unknown page, only that it exists."""
    which, when_at, gap, news = view(rows, n), view(visited_at, n), view(interval_s, n), view(changed, n)
    dates, claims, aged, t = view(age_s, n), view(claimed, n), view(unclocked, n), tables(words)
    for i in range(n):
        page: Any = t.pages[which[i]]
        folder: Any = t.folders[page.folder]
        site: Any = t.sites[folder.site]
        if page.known != KNOWN:
            _first(page, folder, site, t, when_at[i], dates[i])
            folder.scout = which[i]
        elif gap[i] == gap[i]:
            length = max(gap[i], 0.0)
            _revisit(page, folder, site, t, when_at[i], length, news[i], dates[i], claims[i], aged[i])
            if _tells(page, folder, site) or folder.scout == which[i]:
                folder.scout = which[i]
    return 0
