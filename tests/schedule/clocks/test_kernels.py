"""The clocks' kernels as a readable version says: dictionaries of bins, sums over them, and no numba.

Rings count in units of about a thousandth, so that after some hundred visits the two agree to about as much.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import pytest
from believed import sure

from evercrawl.schedule import Pages
from evercrawl.schedule.clocks._layout import COUNTED, KIN_PAGES, ODDS, OWN_RING, PARTS, SIBLINGS
from evercrawl.schedule.clocks.clocks import Clocks
from evercrawl.schedule.clocks.stretches import Stretches
from evercrawl.schedule.pages import KIN_LEVELS, Visits

DAY = 86_400.0
BEGAN = 1.8e9
CYCLE = 10 * DAY  # long enough that all that clocks suppose at first is in seconds, not in cycles
WIDTH = CYCLE / 60
BINS = 256
FIRST = math.floor(BEGAN / WIDTH) - 2 * BINS
SITE_VARIES, FOLDER_VARIES, LASTS, NEAR, FIRST_GAP = 3 * DAY, 800 * DAY, 10 * DAY, 3600.0, 60 * DAY
CLOSE = 3e-3  # what is kept in rings is rounded to 65,536 units
CLOSE_EXPOSURE = 5e-3  # sums of several of these; up to 0.0048 in twelve draws of 60 and of 240 visits


@dataclass
class Ring:
    """All bins there ever were, counted from `FIRST`; only the last 250 or so are to be looked at."""

    changes: np.ndarray = field(default_factory=lambda: np.zeros(4000))
    expected: np.ndarray = field(default_factory=lambda: np.zeros(4000))


@dataclass
class Group:
    newest_at: float = 0.0
    joined: float = 0.0
    stayed: float = 0.0
    pages: int = 0


@dataclass
class Place:
    """A folder, or a site."""

    ring: Ring = field(default_factory=Ring)
    pages: int = 0
    changes: float = 0.0
    waited: float = 0.0
    excess: float = 0.0
    spread: float = 0.0
    plain_changes: float = 0.0
    plain_waited: float = 0.0
    odds: float = 0.0
    counted: float = 0.0
    sites: int = 0
    joined: list = field(default_factory=lambda: [0.0] * 3)
    stayed: list = field(default_factory=lambda: [0.0] * 3)
    found: list = field(default_factory=lambda: [0.0] * PARTS)
    expected: list = field(default_factory=lambda: [0.0] * PARTS)
    gain: list = field(default_factory=lambda: [0.0] * PARTS)
    visits: int = 0

    @property
    def clock(self):
        return self.ring if self.pages >= OWN_RING else None


@dataclass
class Page:
    folder: Place
    site: Place
    siblings: Group
    kin: Group
    cohort: Group | None = None
    changed_at: float = 0.0
    changes: float = 0.0
    waited: float = 0.0
    plain_changes: float = 0.0
    plain_waited: float = 0.0
    gone: bool = False


def clip(x, low, high):
    return min(max(x, low), high)


def log_fresh(shape, scale, exposure):
    return -shape * math.log1p(exposure / scale)


def log_likelihood(shape, scale, exposure, changed):
    fresh = log_fresh(shape, scale, exposure)
    return math.log(max(-math.expm1(fresh), 1e-9)) if changed else fresh


def posterior(shape, scale, exposure):
    """The first two moments of a Gamma rate, given that there was a change at some time: by sums, not by a formula."""
    rate = np.exp(np.linspace(-40, 6, 2001)) * shape / scale
    weight = np.exp(shape * np.log(rate) - rate * scale) * -np.expm1(-rate * exposure)  # a factor of rate by the step
    mean = (weight * rate).sum() / weight.sum()
    variance = (weight * rate**2).sum() / weight.sum() - mean**2
    return mean**2 / variance - shape, mean / variance - scale


def at_least_one(level):
    return level / -math.expm1(-level) if level > 1e-9 else 1.0


def cells(head):
    """First bins of cells, the oldest first, and how many bins each has: as many of each level as there is room for."""
    found, end = [], head + 1
    for size, most in ((1, 32), (2, 16), (4, 16), (8, 16)):
        width = 2 * size if size < 8 else 8  # a level begins where a cell of the next one may end
        first = -((most * size - end) // width) * width
        found += [(k, size) for k in range(end - size, first - 1, -size)]
        end = first
    return np.array(found[::-1]).T


class Readable:
    """What `Clocks` learns, visit by visit."""

    def __init__(self) -> None:
        self.pages, self.crawl, self.stretches, self.cycle = {}, Place(), Stretches(), CYCLE
        self.folders, self.sites, self.names, self.cohorts, self.kin = (
            defaultdict(kind) for kind in (Place, Place, Group, Group, Group)
        )

    # -- clocks

    def bins(self, page, now):
        """Which cells there are up to now, when they begin and end, and how far the page's clock went in each."""
        head = math.floor(now / WIDTH)
        k, sizes = cells(head)
        begins, ends = k * WIDTH, np.minimum((k + sizes) * WIDTH, now)
        passed = ends - begins
        for ring, varies in ((page.site.clock, SITE_VARIES), (page.folder.clock, FOLDER_VARIES)):
            if ring is not None:
                made = np.add.reduceat(ring.changes[: head + 1 - FIRST], k - FIRST)
                watched = np.add.reduceat(ring.expected[: head + 1 - FIRST], k - FIRST) / sizes
                passed = (passed / varies + made) / (1 / varies + watched)
        return k, begins, ends, passed

    def passed(self, page, since, now):
        """How far the page's clock went up to now; before all bins, as time."""
        _, begins, ends, passed = self.bins(page, now)
        part = np.maximum(ends - np.maximum(begins, since), 0) / np.maximum(ends - begins, 1e-9)
        return float((passed * part).sum()) + max(begins[0] - since, 0.0)

    def rings(self, page):
        return [each.clock for each in (page.folder, page.site) if each.clock is not None]

    # -- what a site has learned

    def shape(self, site):
        under = site.excess + 50
        return clip((site.spread + 30) / under, 0.15, 6) if under > 0 else 6.0

    def rate(self, site):
        everywhere = (self.crawl.changes + 1) / (self.crawl.waited + FIRST_GAP)
        return (site.changes + 3) / (site.waited + 3 / everywhere)

    def seconds(self, site):
        few = 3 / self.rate(site)
        return (site.plain_waited + few) / (site.waited + few)

    def factors(self, site):
        """What each part would count for if it were surely of use, and what it counts for."""
        first, full = (0.2, 0.8, 1, 1, 1, 1), []
        for part in range(PARTS):
            usual = (self.crawl.found[part] + 20) / (self.crawl.expected[part] + 20 / first[part])
            full.append((site.found[part] + 20) / (site.expected[part] + 20 / usual))
        full[:2] = (each / sum(full[:2]) for each in full[:2])
        gains = [clip(200 * gain / max(self.crawl.visits, 200), -10, 10) for gain in self.crawl.gain]
        counts = [f / (1 + math.exp(-clip(g + s, -30, 30))) for f, g, s in zip(full, gains, site.gain, strict=True)]
        return full, [1 - counts[1], *counts[1:]]

    def usual(self, page):
        return (page.folder.changes + 3) / (page.folder.waited + 3 / self.rate(page.site))

    def believed(self, page):
        shape = self.shape(page.site)
        return shape + page.changes, shape / self.usual(page) + page.waited

    def parts(self, page, since, now):
        shape, scale = self.believed(page)
        burst, joins = 0.0, [0.0, 0.0, 0.0]
        if page.changed_at > 0:
            old, new = (math.exp(-max(at - page.changed_at, 0) / LASTS) for at in (since, now))
            burst = 2 * LASTS * max(old - new, 0)
        for kind, group in enumerate((page.cohort, page.siblings, page.kin)):
            if group is not None and since < group.newest_at and group.pages <= SIBLINGS:
                usual = (page.site.joined[kind] + 0.5) / (page.site.joined[kind] + page.site.stayed[kind] + 5)
                share = min((group.joined + usual) / (group.joined + group.stayed + 1), 0.95)
                joins[kind] = -math.log(1 - share) * scale / shape
        return [now - since, self.passed(page, since, now), burst, *joins]

    def exposure(self, page, since, now):
        _, counts = self.factors(page.site)
        return sum(count * part for count, part in zip(counts, self.parts(page, since, now), strict=True))

    # -- learning

    def learn(self, slot, site, folder, name, at, interval, gone, changed, age):
        page = self.pages.get(slot)
        if gone:
            if page is not None and not page.gone:
                page.gone, self.stretches.known = True, self.stretches.known - 1
        elif page is None or page.gone:
            self.stretches.known += 1
            if page is None:
                kin = next(self.kin[stem] for stem in stems(site, folder) if self.kin[stem].pages < KIN_PAGES)
                page = self.pages[slot] = Page(self.folders[folder], self.sites[site], self.names[name], kin)
                for each in (page.folder, page.site, page.siblings, page.kin):
                    each.pages += 1
            page.gone = False
            self.join(page, site, at, age)
            if not math.isnan(age):
                page.changed_at = at - age
        else:
            self.revisit(page, at, interval, changed, age)
            if changed:
                self.join(page, site, at, age)
        if self.stretches.passed(1, at):
            self.cycle = self.stretches.cycle_s

    def join(self, page, site, at, age):
        page.cohort = None if math.isnan(age) else self.cohorts[site, math.floor((at - age) / NEAR)]

    def revisit(self, page, now, interval, changed, age):
        since, dated, site = now - interval, not math.isnan(age), page.site
        shape, scale = self.believed(page)
        usual, parts, shape_of = self.usual(page), self.parts(page, since, now), self.shape(site)
        full, counts = self.factors(site)
        exposure = sum(count * part for count, part in zip(counts, parts, strict=True))
        when = clip(now - age, since, now) if dated else (since + now) / 2
        on_clock = counts[0] * (now - when) + counts[1] * self.passed(page, when, now)
        first = 0.4 + page.plain_changes
        everywhere = (self.crawl.plain_changes + 1) / (self.crawl.plain_waited + FIRST_GAP)
        prior = 0.4 / ((site.plain_changes + 3) / (site.plain_waited + 3 / everywhere))
        better = log_likelihood(shape, scale, exposure, changed)
        better -= log_likelihood(first, prior + page.plain_waited, interval, changed)
        own = sum(count * part for count, part in zip(counts[:3], parts, strict=False))  # not what others did
        learned, plain = (
            (0.0, mine, mine) if not changed
            else (1.0, before, before) if dated
            else (*posterior(a, b, length), mine / 2)
            for a, b, length, mine, before in (
                (shape, scale, exposure, own, on_clock),
                (first, prior + page.plain_waited, interval, interval, now - when),
            )
        )  # fmt: skip

        site.excess += (changed - usual * exposure) * (page.changes - usual * page.waited)
        site.spread += usual * exposure * usual * page.waited
        self.note_parts(site, parts, full, counts, (shape, scale, exposure), changed)
        self.note_rings(page, since, now, changed, dated, when, first / (prior + page.plain_waited))
        self.weigh(site, better)
        kept = math.exp(-0.03 * interval / self.cycle)
        page.changes = max((page.changes + learned[0]) * kept, -0.9 * shape_of)
        page.waited = max((page.waited + learned[1]) * kept, -0.9 * shape_of / usual)
        page.plain_changes = max((page.plain_changes + plain[0]) * kept, -0.9 * 0.4)
        page.plain_waited = max((page.plain_waited + plain[1]) * kept, -0.9 * prior)
        for each in (page.folder, site, self.crawl):
            each.changes += changed
            each.waited += learned[2]
            each.plain_changes += changed
            each.plain_waited += plain[2]
        self.meet(page.cohort, site, 0, since, changed, when, dated, NEAR)
        for kind, group in ((1, page.siblings), (2, page.kin)):
            self.meet(group, site, kind, since, changed, when if dated else since, dated, 24 * NEAR)
        if changed:
            page.changed_at = when

    def weigh(self, site, better):
        """Bayes' rule between clocks and time, then some of the probability goes back to what other sites have."""
        others = self.crawl.sites - (site.counted > 0)
        usual = clip((self.crawl.counted - site.counted + 0.2) / (others + 2), 0.002, 0.998)
        likelier = usual * math.exp(clip(site.odds + better, -30, 30))
        after = likelier / (likelier + 1 - usual) * 0.998 + 0.002 * usual
        site.odds = math.log(after / (1 - after)) - math.log(usual / (1 - usual))
        self.crawl.sites += not site.counted
        self.crawl.counted += after - site.counted
        site.counted = after

    def note_parts(self, site, parts, full, counts, believed, changed):
        shape, scale, exposure = believed
        made = at_least_one(shape / scale * exposure) if changed else 0.0
        whole = sum(f * part for f, part in zip(full, parts, strict=True))
        for part, share in enumerate(parts):
            if part:
                more = share - (parts[0] if part == 1 else 0.0)
                without = exposure - counts[part] * more
                gain = log_likelihood(shape, scale, without + full[part] * more, changed)
                gain -= log_likelihood(shape, scale, without, changed)
                site.gain[part] += gain - 0.002 * site.gain[part]
                self.crawl.gain[part] += gain
            for each in (site, self.crawl):
                each.found[part] += made * full[part] * share / whole
                each.expected[part] += shape / scale * share
        self.crawl.visits += 1

    def note_rings(self, page, since, now, changed, dated, when, rate):
        dated = changed and dated
        low = math.floor(when / WIDTH) * WIDTH if dated else since
        whole = self.passed(page, low, now) - (self.passed(page, min(low + WIDTH, now), now) if dated else 0.0)
        count = at_least_one(rate * whole)
        k, begins, ends, passed = self.bins(page, now)
        made = np.zeros(len(k))
        if dated:
            made[np.flatnonzero(begins <= when)[-1]] = count
        elif changed:
            made = count * passed * np.maximum(ends - np.maximum(begins, since), 0) / np.maximum(ends - begins, 1e-9)
            made /= self.passed(page, since, now)
        bins = np.arange(k[0], math.floor(now / WIDTH) + 1)
        first, last = bins * WIDTH, np.minimum((bins + 1) * WIDTH, now)
        for ring in self.rings(page):
            ring.expected[bins - FIRST] += (
                rate * np.maximum(last - np.maximum(first, low), 0) / np.maximum(last - first, 1e-9)
            )
            ring.changes[k - FIRST] += made  # where in its cell makes no difference

    def meet(self, group, site, kind, since, changed, when, dated, near):
        if group is None or group.pages > SIBLINGS:
            return
        waiting = since < group.newest_at
        joined = changed and waiting and (not dated or when <= group.newest_at + near)
        if joined:
            group.joined += 1
            site.joined[kind] += 1
        elif waiting:
            group.stayed += 1
            site.stayed[kind] += 1
        if not joined and changed and when > group.newest_at:
            group.newest_at, group.joined, group.stayed = when, 0.0, 0.0


def stems(site, folder):
    """What paths of kin begin with, as keys: the site where there is room, then one of two parts of it."""
    return site, 2_000_000 + folder // 2


def visits(*rows: tuple):
    """Visits of (slot, site, folder, name, at, interval, gone, changed, age)."""
    slot, site, folder, name, at, interval, gone, changed, age = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    none, gone = np.zeros(len(rows)), gone.astype(bool)
    kin = np.zeros((len(rows), KIN_LEVELS), np.uint64)
    kin[:, :2] = np.transpose(stems(site, folder))
    return Visits(
        slot.astype(np.uint32), site.astype(np.uint32), at, interval, ~gone, gone, changed.astype(bool), age,
        none, none, none.astype(int), none.astype(bool), none.astype(int),
        folder.astype(np.uint64), name.astype(np.uint64), kin=kin,
    )  # fmt: skip


FOLDERS = [1] * 9 + [2] * 8 + [3] * 2 + [4] * 5 + [5]  # the third has no ring of its own, the last not even its site
SITES = [7] * 19 + [900_000] * 5 + [3]
NAMES = [10 + i % 9 for i in range(17)] + [11, 12] + [20] * 5 + [30]


def told(seed, count=240):
    """Visits of pages that change alone and in batches, a third of the visits dated; one page is gone for a while."""
    draw, n = np.random.default_rng(seed), len(FOLDERS)
    changed_at, visited_at, now = np.full(n, BEGAN - 5 * DAY), np.full(n, np.nan), BEGAN
    for k in range(count):
        now += draw.uniform(0.6, 1.8) * CYCLE / n
        if draw.random() < 0.08:
            together = (np.array(FOLDERS) == draw.integers(1, 5)) & (draw.random(n) < 0.8)
            changed_at[together] = now - draw.random(together.sum()) * NEAR / 2
        changed_at[draw.integers(n)] = now - draw.random() * DAY / 2
        slot = k if k < n else int(draw.integers(n))
        gone = slot == 4 and 60 < k < 120 and not np.isnan(visited_at[slot])
        changed = bool(changed_at[slot] > visited_at[slot]) and not gone
        age = now - changed_at[slot] if draw.random() < 1 / 3 else np.nan
        yield slot, SITES[slot], FOLDERS[slot], NAMES[slot], now, now - visited_at[slot], gone, changed, age
        visited_at[slot] = np.nan if gone else now


def asked(slots, visited_at):
    one, none = np.ones(len(slots)), np.zeros(len(slots))
    return Pages(np.array(slots, np.uint32), np.array(visited_at), one, none, one, one, one, none, none)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_kernels_say_what_the_readable_version_says(seed):
    clocks, readable, visited_at = Clocks(CYCLE), Readable(), {}
    for row in told(seed):
        clocks.learn(visits(row))
        readable.learn(*row)
        visited_at[row[0]] = row[4]
    assert clocks._rings.width_s == WIDTH, "else the readable version had to make bins wider"
    assert readable.stretches.cycle_s == pytest.approx(clocks._stretches.cycle_s)
    there = [slot for slot, page in readable.pages.items() if not page.gone]
    now = row[4] + 2.5 * WIDTH
    found = sure(clocks).exposures(asked(there, [visited_at[slot] for slot in there]), now)
    for i, slot in enumerate(there):
        page = readable.pages[slot]
        (shape, scale), unit = readable.believed(page), readable.seconds(page.site)
        assert (found.shape[i], found.scale_s[i]) == pytest.approx((shape, unit * scale), rel=CLOSE), slot
        exposure = unit * readable.exposure(page, visited_at[slot], now)
        assert found.exposure_s[i] == pytest.approx(exposure, rel=CLOSE_EXPOSURE), slot
    sites = clocks.state()["sites"]
    for row, site in zip(sites, readable.sites.values(), strict=True):
        assert row[ODDS] == pytest.approx(site.odds, rel=CLOSE, abs=CLOSE)
        assert row[COUNTED] == pytest.approx(site.counted, rel=CLOSE)
