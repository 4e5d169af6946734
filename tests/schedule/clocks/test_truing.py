"""What is said of copies, made true."""

import numpy as np

from evercrawl.schedule import Pages
from evercrawl.schedule.clocks.clocks import Clocks
from evercrawl.schedule.pages import Visits

DAY = 86400.0
PAGES = 60
SLOTS = np.arange(PAGES, dtype=np.uint32)
ONE, NONE = np.ones(PAGES), np.zeros(PAGES)
NO = NONE.astype(bool)


def seen(at, since, changed, said=None):
    """Visits of all pages of one site, in one folder, each a page of its own name."""
    return Visits(
        SLOTS, NONE.astype(np.uint32), ONE * at, ONE * (at - since), ~NO, NO, changed, NONE * np.nan, NONE, NONE,
        NONE.astype(int), NO, NONE.astype(int), ONE.astype(np.uint64), SLOTS.astype(np.uint64) + np.uint64(1), said,
    )  # fmt: skip


def asked(clocks, visited_at, now):
    return clocks.exposures(Pages(SLOTS, ONE * visited_at, ONE, NONE, ONE, 9 * DAY * ONE, ONE, NONE, NONE), now)


def lived(rounds, *, told):
    """Return what was said in the later of some rounds, and whether it was so; half of all rounds change all pages."""
    draw, clocks, claims = np.random.default_rng(5), Clocks(10 * DAY), []
    clocks.learn(seen(0.0, np.nan, NO))
    for k in range(1, rounds):
        now, since = 10 * DAY * k, 10 * DAY * (k - 1)
        said = asked(clocks, since, now).fresh()
        changed = ~NO if draw.random() < 0.5 else NO
        clocks.learn(seen(now, since, changed, said if told else None))
        claims.append((said.mean(), 1.0 - changed.mean()))
    return np.array(claims[rounds // 3 :]).T


def test_what_counts_is_what_was_said_before_the_first_page_of_a_batch_was_seen():
    said, fresh = lived(300, told=True)
    assert abs(said.mean() - fresh.mean()) < 0.0073
    others, _ = lived(300, told=False)
    assert abs(others.mean() - fresh.mean()) > 2 * abs(said.mean() - fresh.mean())


def level(step):
    """Return where the line is after sixty copies were said to be fresh and were not, one each `step`."""
    clocks = Clocks(10 * DAY)
    clocks.learn(seen(0.0, np.nan, NO))
    for slot in range(PAGES):
        one = slice(slot, slot + 1)
        clocks.learn(seen(10 * DAY + slot * step, 0.0, ~NO, 0.9 * ONE).take(one))
    return asked(clocks, 10 * DAY, 11 * DAY).level[0]


def test_claims_made_within_one_bin_count_less_together_than_as_many_apart():
    assert level(DAY) < level(0.0) < 0.0


def test_where_nothing_was_said_it_is_worked_out():
    clocks = Clocks(10 * DAY)
    clocks.learn(seen(0.0, np.nan, NO))
    clocks.learn(seen(10 * DAY, 0.0, ~NO, ONE * np.nan))
    without = Clocks(10 * DAY)
    without.learn(seen(0.0, np.nan, NO))
    without.learn(seen(10 * DAY, 0.0, ~NO))
    assert asked(clocks, 10 * DAY, 11 * DAY).level[0] == asked(without, 10 * DAY, 11 * DAY).level[0] != 0.0
