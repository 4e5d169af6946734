"""Kin: pages whose paths begin alike, 16 at most, of which one that changed tells of the others."""

import numpy as np
from believed import sure

from evercrawl.arrays.hasher import Hasher
from evercrawl.model.policy.place_keys import place_keys, stems
from evercrawl.schedule import Pages
from evercrawl.schedule.clocks._layout import KIN_PAGES, NONE
from evercrawl.schedule.clocks.clocks import Clocks
from evercrawl.schedule.pages import KIN_LEVELS, Visits

DAY, BEGAN = 86_400.0, 1.8e9
PATHS = [f"{word}-{number}" for word in ("door", "window") for number in range(40)]


def visits(paths, at, interval=np.nan, changed=False):
    n, urls = len(paths), [f"http://a.example/{path}" for path in paths]
    folder, name, kin = place_keys(urls, ["a.example"] * n, Hasher(bytes(16)))
    none, no, slots = np.zeros(n), np.zeros(n, bool), np.array([PATHS.index(path) for path in paths], np.uint32)
    return Visits(
        slots, slots * np.uint32(0), np.full(n, at), np.full(n, interval), ~no, no, no | changed,
        np.where(no | changed, 3600.0, np.nan),
        none, none, none.astype(int), no, none.astype(int), folder, name, kin=kin,
    )  # fmt: skip


def groups(clocks):
    return clocks.state()["pages"]["kin"]


def test_where_there_are_many_pages_names_make_kin_and_those_that_came_first_stay_together():
    whole, apart = Clocks(10 * DAY), Clocks(10 * DAY)
    whole.learn(visits(PATHS, BEGAN))
    for path in PATHS:
        apart.learn(visits([path], BEGAN))
    of = groups(whole)
    assert (of == groups(apart)).all(), "however they are parted into calls"
    known = of[of != NONE]
    assert np.bincount(known).max() == KIN_PAGES
    doors, windows = set(of[KIN_PAGES:40].tolist()), set(of[40:].tolist())
    assert len(set(of[:KIN_PAGES].tolist())) == 1
    assert doors & windows <= {NONE}
    assert np.mean(of == NONE) < 0.1


def test_stems_that_pages_have_in_common_come_first_and_are_no_more_than_there_is_room_for():
    one, other = stems("a.example/b/c/d/e/f/g/h/window-open"), stems("a.example/b/c/d/e/f/g/h/window-close")
    alike = [first == second for first, second in zip(one, other, strict=True)]
    assert alike == sorted(alike, reverse=True)
    assert sum(alike) > 8
    assert max(len(one), len(other), len(stems("a.example/" + "b/" * 99 + "c" * 99))) <= KIN_LEVELS


def test_a_page_of_which_kin_changed_is_more_exposed_than_others_of_its_folder():
    clocks, draw = Clocks(10 * DAY, without=("clock", "cohorts")), np.random.default_rng(1)
    clocks.learn(visits(PATHS, BEGAN))
    of = groups(clocks)
    for k in range(1, 40):  # kin change together
        busy = np.isin(of, draw.choice(np.unique(of[of != NONE]), 1))
        clocks.learn(visits(PATHS, BEGAN + k * DAY, DAY, busy))
    now, scout, mate, stranger = BEGAN + 40 * DAY, 40, 41, 0
    assert of[scout] == of[mate] != of[stranger]
    clocks.learn(visits([PATHS[scout]], now, DAY, True))
    one, none = np.ones(2), np.zeros(2)
    rows = np.array([mate, stranger], np.uint32)
    pages = Pages(rows, one * (now - DAY), one, none, one, 9 * DAY * one, one, none, none)
    told = sure(clocks).exposures(pages, now + 60.0)
    fresh = told.fresh()
    assert fresh[0] < fresh[1] - 0.1
