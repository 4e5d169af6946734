"""The clocks of folders: what exposure is where little is known, what batches do to it, what nothing may disturb."""

import math
from dataclasses import replace

import numpy as np
import pytest
from believed import sure

from evercrawl.schedule import Pages
from evercrawl.schedule.clocks._layout import (
    ALL_BELIEVED,
    ALL_SITES,
    CHANGES,
    COUNTED,
    FOLDER,
    GROUP,
    NAME,
    ODDS,
    PAGE,
    SETTINGS,
)
from evercrawl.schedule.clocks.clocks import Clocks
from evercrawl.schedule.pages import Visits

DAY = 86_400.0
BEGAN = 1.8e9
CYCLE = 20 * DAY
BIN = CYCLE / 60


def visits(slots, at, seen_at=np.nan, changed=False, age=np.nan, site=0, folder=1, name=None, gone=False):
    """Visits of some pages; what is given once holds for all of them."""
    n = len(slots)
    whole = [
        np.full(n, each, float) if np.ndim(each) == 0 else np.asarray(each) for each in (at, seen_at, changed, age)
    ]
    at, seen_at, changed, age = whole
    none, gone = np.zeros(n), np.full(n, gone)
    site, folder = (np.full(n, each) if np.ndim(each) == 0 else np.asarray(each) for each in (site, folder))
    return Visits(
        np.asarray(slots, np.uint32), site.astype(np.uint32), at, at - seen_at, ~gone, gone, changed.astype(bool), age,
        none, none, none.astype(int), none.astype(bool), none.astype(int), folder.astype(np.uint64),
        np.asarray(slots, np.uint64) + 1 if name is None else np.asarray(name, np.uint64),
    )  # fmt: skip


def asked(slots, visited_at):
    one, none = np.ones(len(slots)), np.zeros(len(slots))
    return Pages(np.asarray(slots, np.uint32), one * visited_at, one, none, one, 9 * one, one, none, none)


def watched(pages=40, rounds=8, rate=0.02, seed=1, batch=()):
    """Clocks of two sites, halves of the pages, whose pages change alone; and when the last round was.

    In the rounds of `batch` all pages of the first site are found changed.
    """
    draw, clocks, slots = np.random.default_rng(seed), Clocks(CYCLE), np.arange(pages)
    site, seen_at = slots % 2, np.full(pages, np.nan)
    for k in range(rounds):
        at = BEGAN + k * CYCLE + slots * CYCLE / pages
        changed = (draw.random(pages) < rate * 20) & (k > 0) | (k in batch) & (site == 0)
        clocks.learn(visits(slots, at, seen_at, changed, site=site, folder=site + 1))
        seen_at = at
    return clocks, seen_at


def test_kernels_follow_tables_that_grow_under_them():
    """Clocks that grow in many small steps learn what those do whose tables all lie elsewhere after each step."""
    clocks, draw, seen_at = Clocks(CYCLE), np.random.default_rng(5), np.full(4000, np.nan)
    for k in range(40):
        slots, at = np.arange(100 * k + 100), BEGAN + k * DAY
        changed, age = draw.random(len(slots)) < 0.3, draw.random(len(slots)) * DAY
        found = visits(slots, at, seen_at[slots], changed, age, site=slots % 97, folder=slots // 7)
        again = Clocks(CYCLE)
        again.restore(clocks.state())
        for one in (clocks, again):
            one.learn(found)
        seen_at[slots] = at
        for name, rows in clocks.state().items():
            np.testing.assert_array_equal(rows, again.state()[name], name)
    assert len(clocks.state()["cohorts"]) > 30


def test_until_clocks_are_believed_exposure_is_age_and_rates_are_the_pages_own():
    clocks = Clocks(CYCLE)
    clocks.learn(visits([0, 1], BEGAN))
    found = clocks.exposures(asked([0, 1, 900], [BEGAN, np.nan, BEGAN]), BEGAN + DAY)
    np.testing.assert_array_equal(found.exposure_s, [DAY, np.nan, DAY])
    assert (found.shape.tolist(), found.scale_s.tolist(), found.speed.tolist()) == ([1] * 3, [9] * 3, [1] * 3)


def test_exposure_is_about_the_age_on_the_mean_where_pages_change_alone():
    clocks, seen_at = watched(pages=100, rounds=10)
    now = seen_at.max() + BIN
    found = sure(clocks).exposures(asked(np.arange(100), seen_at), now)
    assert found.exposure_s.sum() == pytest.approx((now - seen_at).sum(), rel=0.1)
    assert not np.allclose(found.shape, 1.0), "else these are the pages' own columns"


def test_exposure_grows_with_time_while_nothing_is_learned():
    clocks, seen_at = watched()
    clocks, pages = sure(clocks), asked(np.arange(40), seen_at)
    later = [clocks.exposures(pages, seen_at.max() + k * BIN).exposure_s for k in range(1, 300, 7)]
    assert (np.diff(later, axis=0) > 0).all()


def test_a_batch_makes_the_unvisited_pages_of_its_folder_older_and_not_those_of_another_site():
    ages = {}
    for batch in (False, True):
        clocks, seen_at = watched(rate=0.005)
        now = seen_at.max() + 3 * BIN
        first = np.arange(0, 20, 2)  # ten of the first site's twenty
        clocks.learn(visits(first, now + first, seen_at[first], changed=batch, site=0, folder=1))
        ages[batch] = sure(clocks).exposures(asked(np.arange(40), seen_at), now + 2 * BIN).exposure_s
    mates, others = np.arange(20, 40, 2), np.arange(1, 40, 2)
    assert (ages[True][mates] > 1.5 * ages[False][mates]).all()
    np.testing.assert_allclose(ages[True][others], ages[False][others], rtol=0.2)


def test_a_batch_is_told_of_once_and_pages_that_change_as_foretold_are_no_batch():
    clocks, seen_at = watched(rate=0.005, rounds=3)
    now, site = seen_at.max() + 3 * BIN, [np.arange(k, 40, 2) for k in (0, 1)]
    clocks.learn(visits(site[1], now, seen_at[site[1]], site=1, folder=2))
    assert not clocks.jumped(now)
    clocks.learn(visits(site[0], now + 1, seen_at[site[0]], changed=True, site=0, folder=1))
    assert clocks.jumped(now + 1)
    assert not clocks.jumped(now + CYCLE)


def test_where_clocks_are_not_believed_no_batch_is_told_of():
    clocks, seen_at = watched(rate=0.005, rounds=3)
    memory = clocks.state()
    memory["sites"] = memory["sites"].copy()
    memory["sites"][:, ODDS] = -1e6
    doubted, site = Clocks(CYCLE), np.arange(0, 40, 2)
    doubted.restore(memory)
    now = seen_at.max() + 3 * BIN
    found = visits(site, now, seen_at[site], changed=True, site=0, folder=1)
    doubted.learn(replace(found, fresh_by_time=np.full(len(site), 1e-3)))  # time alone had said so, too
    assert not doubted.jumped(now)


@pytest.mark.parametrize("odds", [-3.0, -0.1, 0.1, 2.3, 40.0])
@pytest.mark.parametrize(("sites", "likely"), [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)])
def test_whether_clocks_are_trusted_is_told_as_it_decides(odds, sites, likely):
    clocks, seen_at = watched(rate=0.005, rounds=3)
    memory = clocks.state()
    memory["sites"] = memory["sites"].copy()
    memory["sites"][:, ODDS], memory["sites"][:, COUNTED] = odds, 0.0
    memory["sites"][:, CHANGES] = 1.0
    memory["told"][ALL_SITES - SETTINGS], memory["told"][ALL_BELIEVED - SETTINGS] = sites, likely
    clocks.restore(memory)
    found = clocks.exposures(asked([0], seen_at[:1]), seen_at.max() + BIN)
    usual, trust = (likely + 0.2) / (sites + 2.0), clocks.trust(0)
    assert trust.nats == pytest.approx(odds + math.log(usual / (1.0 - usual)))
    assert trust.believed == pytest.approx(1.0 / (1.0 + math.exp(-trust.nats)))
    assert (trust.believed > 0.5) == (found.scale_s[0] != 9.0)
    assert clocks.trust(10_000) is None


@pytest.mark.parametrize("changes", [0.0, 1.0])
def test_clocks_that_saw_no_change_have_nothing_to_tell(changes):
    """All they know is how often changes were supposed to come, which follows from how fast the crawl goes."""
    clocks, seen_at = watched(rate=0.005, rounds=3)
    memory = clocks.state()
    memory["sites"] = memory["sites"].copy()
    memory["sites"][:, ODDS], memory["sites"][:, CHANGES] = 40.0, changes
    memory["pages"]["changed_at"] = 0.0
    clocks.restore(memory)
    found = clocks.exposures(asked([0], seen_at[:1]), seen_at.max() + BIN)
    assert (found.scale_s[0] != 9.0) == (changes > 0) == (clocks.trust(0).believed > 0.5)


def foretold(clocks, seen_at, later, by_time):
    """Return the odds of the clocks once pages were unchanged, which time alone had said would be so likely."""
    now = float(np.max(seen_at)) + later
    rows = visits(np.arange(40), now, seen_at, site=np.arange(40) % 2, folder=1 + np.arange(40) % 2)
    clocks.learn(replace(rows, fresh_by_time=np.full(40, by_time)))
    return [clocks.trust(row).nats for row in (0, 1)]


def test_who_foretells_better_is_believed_more():
    found = {by_time: foretold(*watched(rate=0.005, rounds=3), BIN, by_time) for by_time in (1e-3, 0.5, 1.0)}
    assert min(found[1e-3]) > max(found[0.5]) > math.log(9.0)
    assert max(found[1.0]) < min(found[0.5])


def test_what_was_right_for_long_may_be_wrong_soon():
    """Some of the probability goes back to what is usual at each visit, so a model is not lost for ever."""
    clocks, seen_at = watched(rate=0.005, rounds=3)
    for _ in range(5):
        assert max(foretold(clocks, seen_at, BIN, 1e-6)) > math.log(99.0)
    before = clocks.trust(0).nats
    assert before < 10.0
    assert foretold(clocks, seen_at, BIN, 1.0)[0] < before


def read_once(ages):
    """Clocks of pages of one folder that were read once, and had those dates; they are believed."""
    clocks = Clocks(CYCLE)
    clocks.learn(visits(np.arange(len(ages)), BEGAN, age=np.asarray(ages)))
    return clocks


def test_pages_that_had_one_date_when_they_were_first_read_are_a_cohort():
    clocks, now = read_once(np.repeat([90.0, 200.0], 10) * DAY), BEGAN + CYCLE
    seen = np.arange(5)  # half of the first ten
    clocks.learn(visits(seen, now, BEGAN, changed=True, age=DAY))
    found = sure(clocks).exposures(asked(np.arange(20), BEGAN), now + BIN).exposure_s
    assert found[5:10].min() > 1.2 * found[10:].max()


def test_a_page_that_changed_lately_when_it_was_first_read_is_thought_to_be_in_a_burst():
    clocks = read_once([1.0 * DAY, 300 * DAY, np.nan])
    found = sure(clocks).exposures(asked(np.arange(3), BEGAN), BEGAN + 5 * DAY).exposure_s
    assert found[0] > 1.2 * found[1]
    assert found[1] == pytest.approx(found[2], rel=1e-6)


def test_when_the_machines_clock_goes_back_no_exposure_does():
    clocks, seen_at = watched()
    past = seen_at - 3 * CYCLE
    clocks.learn(
        visits(np.arange(40), past, seen_at, changed=True, site=np.arange(40) % 2, folder=np.arange(40) % 2 + 1)
    )
    clocks, pages = sure(clocks), asked(np.arange(40), past)
    for now in (past.max() + BIN, past.max() + CYCLE, seen_at.max() + BIN, past.max() + BIN):
        found = clocks.exposures(pages, now)
        assert np.isfinite(found).all()
        assert (found.exposure_s >= 0).all()
        assert (found.shape > 0).all()
        assert (found.scale_s > 0).all()
    before = clocks.exposures(pages, past.min() - DAY)
    assert (before.exposure_s == 0).all()


def test_a_visit_before_the_one_before_took_no_time():
    ends = []
    for before_s in (3 * CYCLE, 0.0):
        clocks, seen_at = watched()
        at = seen_at.max() + DAY
        clocks.learn(visits([4, 6], at, at + before_s, changed=[True, False]))
        ends.append(sure(clocks).exposures(asked(np.arange(40), np.r_[seen_at[:4], at, seen_at[5:]]), at + 2 * BIN))
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize(("pages", "alike"), [(20, True), (40, False)])
def test_pages_of_one_name_change_alike_unless_half_the_site_is_called_so(pages, alike):
    slots, folders, ages = np.arange(pages), np.arange(pages) + 1, []
    for name in (np.full(pages, 7), slots + 1):
        clocks, seen_at = Clocks(CYCLE), np.full(pages, np.nan)
        for k in range(3):
            clocks.learn(visits(slots, BEGAN + k * CYCLE, seen_at, folder=folders, name=name))
            seen_at = np.full(pages, BEGAN + k * CYCLE)
        now = seen_at[0] + CYCLE
        clocks.learn(visits(slots[:3], now, seen_at[:3], changed=True, age=DAY, folder=folders[:3], name=name[:3]))
        ages.append(sure(clocks).exposures(asked(slots[3:], seen_at[3:]), now + 2 * BIN).exposure_s)
    named, unnamed = ages
    assert (named > 1.2 * unnamed).all() if alike else (named == unnamed).all()


def test_what_a_clock_ahead_of_time_wrote_is_not_read_as_the_oldest_bins():
    clocks, seen_at = watched(rounds=6, batch=(5,))
    clocks = sure(clocks)
    now = seen_at.max() - 3.5 * CYCLE
    asked_then = asked(np.arange(0, 40, 2), now - 4 * CYCLE)
    quiet = sure(watched(rounds=6)[0])
    expected = quiet.exposures(asked_then, now).exposure_s / 4 / CYCLE
    assert clocks.exposures(asked_then, now).exposure_s / 4 / CYCLE == pytest.approx(expected, rel=0.2)


def test_thirty_years_later_a_copy_is_thirty_years_older():
    clocks, seen_at = watched()
    clocks, years = sure(clocks), 30 * 365 * DAY
    found = clocks.exposures(asked(np.arange(40), seen_at), seen_at.max() + years)
    assert found.exposure_s == pytest.approx(years, rel=0.1)
    clocks.learn(visits([0], seen_at[0] + years, seen_at[0], changed=True))
    assert np.isfinite(clocks.exposures(asked([0], seen_at[0] + years), seen_at[0] + years + DAY)).all()


def test_a_page_that_is_gone_is_not_told_of_and_comes_back_to_its_folder_as_one_page():
    clocks, seen_at = watched()
    clocks.learn(visits([4], seen_at.max() + DAY, seen_at[4], gone=True))
    gone = sure(clocks).exposures(asked([4], seen_at[4]), seen_at.max() + 2 * DAY)
    assert (gone.exposure_s[0], gone.shape[0]) == (seen_at.max() + 2 * DAY - seen_at[4], 1.0)
    clocks.learn(visits([4], seen_at.max() + 3 * DAY, folder=77))
    again = sure(clocks).exposures(asked([4], seen_at.max() + 3 * DAY), seen_at.max() + 4 * DAY)
    assert again.shape[0] != 1.0
    folders = clocks.state()["folders"]
    assert folders["pages"].tolist() == [0.0, 20.0, 20.0], "a page stays where it was, and is counted once"


def rounds_of(pages, rounds, seed):
    """Rounds of visits, each of all pages in another order; forty pages have one name, too many to say anything."""
    draw, seen_at, now = np.random.default_rng(seed), np.full(pages, np.nan), BEGAN
    for _ in range(rounds):
        slots = draw.permutation(pages)
        at = now + np.sort(draw.uniform(0, CYCLE, pages))
        changed = ~np.isnan(seen_at[slots]) & (draw.random(pages) < 0.3)
        age = np.where(draw.random(pages) < 0.5, draw.uniform(0, CYCLE, pages), np.nan)
        name = np.where(slots < 40, 1, 2 + slots % 7)
        yield visits(slots, at, seen_at[slots], changed, age, slots % 3, slots % 5 * 3 + slots % 3 + 1, name)
        seen_at[slots], now = at, at[-1]


@pytest.mark.parametrize("size", [1, 13])
def test_how_visits_are_parted_and_who_asks_meanwhile_makes_no_difference(size):
    whole, parted, pages = Clocks(CYCLE), Clocks(CYCLE), 90
    for some in rounds_of(pages, 6, seed=4):
        whole.learn(some)
        for first in range(0, pages, size):
            parted.learn(some.take(slice(first, first + size)))
            parted.exposures(asked(np.arange(pages), some.at[first]), some.at[first] + DAY)
        last = some
    columns = asked(last.slot, last.at)
    now = last.at[-1] + 2 * BIN
    for one, other in zip(sure(whole).exposures(columns, now), sure(parted).exposures(columns, now), strict=True):
        np.testing.assert_array_equal(one, other)
    for name in ("names", "cohorts"):
        one, other = (clocks.state()[name].tobytes() for clocks in (whole, parted))
        assert one == other, name


def test_bins_made_wider_and_narrower_keep_exposures():
    clocks, seen_at = watched(batch=(6,))
    pages, now = asked(np.arange(40), seen_at), seen_at.max() + BIN
    before = sure(clocks).exposures(pages, now).exposure_s
    for times in (2.1, 1.0, 0.45, 1.0):
        other = sure(clocks)
        other.set_cycle(times * CYCLE)
        assert other.exposures(pages, now).exposure_s == pytest.approx(before, rel=0.1, abs=2 * BIN), times


def test_a_cycle_takes_some_time():
    with pytest.raises(AssertionError):
        Clocks(CYCLE).set_cycle(0.0)


def test_where_nobody_says_in_which_folder_pages_are_a_site_is_one_folder():
    told, untold = Clocks(CYCLE), Clocks(CYCLE)
    seen_at = np.full(12, np.nan)
    for k in range(5):
        some = visits(np.arange(12), BEGAN + k * CYCLE, seen_at, k == 3, folder=5)
        told.learn(some)
        untold.learn(Visits(*(None if name in ("folder", "name") else getattr(some, name) for name in some.__slots__)))
        seen_at = np.full(12, BEGAN + k * CYCLE)
    pages, now = asked(np.arange(12), seen_at), BEGAN + 5 * CYCLE
    np.testing.assert_array_equal(sure(told).exposures(pages, now), sure(untold).exposures(pages, now))


def test_what_a_page_and_a_folder_take():
    clocks, _ = watched()
    memory = clocks.state()
    ring_bytes = sum(memory[name][0].nbytes for name in ("heads", "units", "changes", "expected")) + 4  # its version
    assert PAGE.itemsize <= 44
    assert ring_bytes + FOLDER.itemsize + 16 <= 400, "with the number of its key"
    assert GROUP.itemsize == NAME.itemsize == 16
    assert len(memory["heads"]) == 1 + 2 + 2, "nobody's, two folders', two sites'"


def test_sites_far_apart_take_no_more_than_sites_side_by_side():
    clocks, sites = Clocks(CYCLE), np.linspace(0, 1_000_000, 8).astype(int)
    slots = np.arange(40)
    clocks.learn(visits(slots, BEGAN, site=sites[slots // 5], folder=slots // 5 + 1))
    clocks.learn(visits([200_000], BEGAN, site=77, folder=99))
    assert len(clocks.state()["heads"]) == 1, "before a page is read again nobody has a clock"
    again = slots[:20]
    clocks.learn(visits(again, BEGAN + DAY, BEGAN, site=sites[again // 5], folder=again // 5 + 1))
    clocks.learn(visits([200_000], BEGAN + DAY, BEGAN, site=77, folder=99))
    memory = clocks.state()
    assert len(memory["sites"]) == 9
    assert len(memory["heads"]) == 1 + 4 + 4, "neither have those whose pages were read once, nor the site of one page"
    assert memory["pages"].nbytes < 9.6e6


def test_cohorts_that_nobody_is_in_are_forgotten_and_those_that_are_stay():
    clocks, slots, seen_at = Clocks(CYCLE), np.arange(50), np.full(50, np.nan)
    for k in range(200):
        at = BEGAN + k * CYCLE + slots * 4000.0
        age = np.where(slots < 48, 0.0, at - BEGAN - 60.0)  # two have been as they are since the beginning
        clocks.learn(visits(slots, at, seen_at, (slots < 48) & (k > 0), age))
        seen_at = at
    memory = clocks.state()
    assert len(memory["cohorts"]) < 2 * 50 + 1024 + 256
    pages = memory["pages"][:50]
    assert pages["cohort"].max() < len(memory["cohorts"])
    assert len(np.unique(pages["cohort"])) == 49
    assert pages["cohort"][48] == pages["cohort"][49]


@pytest.mark.parametrize("kind", [PAGE, FOLDER, GROUP, NAME])
def test_rows_have_no_room_between_their_fields(kind):
    """They are kept on disk; what lies there is what memory held before, and no two files would be the same."""
    assert kind.itemsize == sum(kind[name].itemsize for name in kind.names)


def test_a_memory_of_another_make_is_not_recalled():
    clocks, seen_at = watched()
    pages = asked(np.arange(40), seen_at)
    before = sure(clocks).exposures(pages, seen_at.max() + DAY)
    memory = Clocks(CYCLE).state()
    with pytest.raises(ValueError, match="another format"):
        clocks.restore(memory | {"changes": np.zeros((3, 7), np.float32)})
    with pytest.raises(KeyError):
        clocks.restore({name: rows for name, rows in memory.items() if name != "sites"})
    np.testing.assert_array_equal(sure(clocks).exposures(pages, seen_at.max() + DAY), before)
