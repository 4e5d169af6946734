"""Pages gain and lose links as they should, and nothing is lost where rows have to move."""

import numpy as np
import pytest

from evercrawl.lab.engine.living import ChangingWeb, LinkRows
from evercrawl.simulate.graphs import Web, power_law


def test_links_to_a_page_are_halved_and_doubled():
    web = power_law(3000, 1)
    living = ChangingWeb(web, 1)
    page = int(web.into.argmax())
    living.change(np.array([page]), np.array([False]))
    half = living.now()
    assert half.into[page] == web.into[page] - web.into[page] // 2
    others = np.arange(3000) != page
    assert np.array_equal(half.into[others], web.into[others])
    living.change(np.array([page]), np.array([True]))
    drawn = living.now().into[page]
    assert 1.7 * half.into[page] < drawn <= 2 * half.into[page], "some sources link there already"


def test_what_is_dropped_was_there_and_what_is_left_was_too():
    web = power_law(500, 2)
    living = ChangingWeb(web, 2)
    living.change(np.arange(500), np.zeros(500, bool))
    now = living.now()
    before = set(zip(web.source.tolist(), web.target.tolist(), strict=True))
    after = set(zip(now.source.tolist(), now.target.tolist(), strict=True))
    assert after < before
    assert np.array_equal(now.into, web.into - web.into // 2)


def test_rows_move_when_they_outgrow_their_place_and_when_all_room_is_used():
    living = ChangingWeb(Web.of(400, np.arange(400), np.roll(np.arange(400), 1)), 3)
    for _ in range(7):
        living.change(np.arange(400), np.ones(400, bool))
    now = living.now()
    assert now.links == living.out.count.sum()
    assert now.into.mean() > 93
    assert np.array_equal(living.out.count, now.out)


def test_the_web_given_stays_as_it_is_and_a_seed_decides_the_changes():
    web = power_law(300, 1)
    before = web.target.copy()
    ends = []
    for seed in (1, 1, 2):
        living = ChangingWeb(web, seed)
        for _ in range(30):
            living.some_change(10.5)
        ends.append(living.now().target.tolist())
    assert np.array_equal(web.target, before)
    assert ends[0] == ends[1] != ends[2]


def test_as_many_change_as_are_said_to_on_the_mean():
    living, asked = ChangingWeb(power_law(300, 1), 1), []
    living.change = lambda pages, more: asked.append(len(pages))
    for _ in range(2000):
        living.some_change(0.7)
    assert sum(asked) / 2000 == pytest.approx(0.7, abs=0.05)


def test_rows_that_nobody_saw_stay_unseen_when_room_is_made():
    rows = LinkRows.unseen(3)
    rows.make_room(5)
    assert rows.count.tolist() == [-1, -1, -1]
    assert len(rows.target) == 5
