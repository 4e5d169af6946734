"""What a history says of pages between two instants."""

import math

import numpy as np
import pytest

from evercrawl.lab.histories import CrawlSeen
from evercrawl.lab.histories.evolution.linked import links
from evercrawl.lab.histories.evolution.lives import DAY_S
from evercrawl.lab.histories.evolution.watched import watch

ROWS = [  # day, page, op, simhash, content
    (0, 0, 0, 0b1111, 1), (0, 1, 0, 7, 1), (2, 0, 1, 0b1110, 2), (3, 0, 3, 0b0110, 3), (4, 0, 1, 0b0110, 4),
    (5, 1, 2, 0, 0), (6, 2, 0, 5, 1), (7, 0, 1, 0b1111, 1), (7, 2, 1, 5, 6), (9, 1, 0, 7, 1), (10, 0, 1, 1, 9),
]  # fmt: skip


def days(times) -> list[float]:
    return (np.asarray(times) / DAY_S).tolist()


def test_a_page_lives_from_its_appearance_to_its_removal_and_may_come_back(made_up):
    lives = watch(made_up(ROWS)).lives
    assert lives.page.tolist() == [0, 1, 1, 2]
    assert days(lives.began_at) == [0, 0, 9, 6]
    assert days(lives.ended_at) == [10, 5, 10, 10]
    assert lives.died.tolist() == [False, True, False, False]
    assert lives.known.tolist() == [False, False, True, True], "of what was there at first nobody knows since when"


def test_a_change_is_one_of_the_page_and_compares_with_the_state_before(made_up):
    changes = watch(made_up(ROWS)).changes
    assert list(zip(changes.page.tolist(), days(changes.at), changes.bits.tolist(), strict=True)) == [
        (0, 2, 1), (0, 4, 0), (0, 7, 2), (0, 10, 3), (2, 7, 0)
    ]  # fmt: skip
    assert changes.returned.tolist() == [False, False, True, False, False]
    assert changes.batch.tolist() == [1, 1, 2, 1, 2]
    assert changes.life.tolist() == [0, 0, 0, 0, 3]


def test_pages_of_other_sites_are_in_no_batch(made_up):
    history = made_up([(0, 0, 0), (0, 1, 0), (1, 0, 1, 1, 1), (1, 1, 1, 1, 1)], site=[0, 1], sites=("a", "b"))
    assert watch(history).changes.batch.tolist() == [1, 1]


def test_between_two_instants_only_that_time_counts_but_ages_stay(made_up):
    seen = watch(made_up(ROWS), 3 * DAY_S, 8 * DAY_S)
    assert seen.lives.page.tolist() == [0, 1, 2]
    assert days(seen.lives.began_at) == [3, 3, 6]
    assert days(seen.lives.appeared_at) == [0, 0, 6]
    assert days(seen.lives.ended_at) == [8, 5, 8]
    assert seen.lives.died.tolist() == [False, True, False]
    assert days(seen.changes.at) == [4, 7, 7]
    assert seen.changes.life.tolist() == [0, 0, 2]
    assert watch(made_up(ROWS), 0, 4 * DAY_S).lives.died.tolist() == [False, False]


def test_a_history_may_begin_in_the_middle_of_a_page(made_up):
    seen = watch(made_up([(1, 0, 2), (2, 1, 1, 3, 3), (4, 1, 1, 4, 4)]))
    assert seen.lives.page.tolist() == [1]
    assert days(seen.changes.at) == [4], "with nothing before, the first is no change"
    assert seen.first_at.tolist() == [math.inf, 2 * DAY_S]


LINKS = [
    (0, 0, 1, True), (0, 0, 2, True), (2, 0, 1, False), (4, 0, 1, True), (5, 1, 0, True), (6, 2, 0, True),
    (7, 2, 0, False), (8, 2, 0, True),
]  # fmt: skip


def test_a_link_is_there_until_it_is_not_and_may_come_back(made_up):
    history = made_up([(0, 0, 0), (0, 1, 0), (6, 2, 0), (10, 0, 1)], links=LINKS)
    found = links(history, watch(history))
    columns = found.page.tolist(), days(found.began_at), days(found.ended_at), found.went.tolist()
    assert list(zip(*columns, strict=True)) == [
        (0, 0, 2, True), (0, 4, 10, False), (0, 0, 10, False), (1, 5, 10, False), (2, 6, 7, True), (2, 8, 10, False)
    ]  # fmt: skip
    assert found.later.tolist() == [False, True, False, True, False, True]
    assert found.known.tolist() == [False, True, False, True, True, True]


def test_links_between_two_instants(made_up):
    history = made_up([(0, 0, 0), (0, 1, 0), (6, 2, 0), (10, 0, 1)], links=LINKS)
    found = links(history, watch(history, 3 * DAY_S, 5.5 * DAY_S))
    assert days(found.began_at) == [4, 0, 5]
    assert days(found.watched_at) == [4, 3, 5]
    assert found.later.tolist() == [True, False, True]
    assert days(found.ended_at) == pytest.approx([5.5] * 3)
    assert not found.went.any()


def test_what_was_not_noted_is_made_up_for(made_up):
    rows = [(0, 0, 0), (1, 0, 2), (2, 0, 1, 1, 1), (3, 0, 0), (4, 0, 1, 2, 2), (5, 1, 2), (6, 1, 1), (7, 1, 1, 3, 3)]
    seen = watch(made_up(rows))
    assert seen.lives.page.tolist() == [0, 0, 0, 1]
    assert days(seen.lives.began_at) == [0, 2, 3, 6], "what changes after a removal is there again"
    assert days(seen.lives.ended_at) == [1, 3, 7, 7], "what appears again was gone"
    assert seen.lives.died.tolist() == [True, False, False, False]
    assert days(seen.changes.at) == [4, 7]
    assert seen.changes.life.tolist() == [2, 3]


def test_the_two_instants_belong_to_the_time_between_them(made_up):
    history = made_up([(0, 0, 0), (2, 0, 1, 1, 1), (4, 0, 1, 2, 2), (4, 1, 0), (6, 0, 2)], links=[(4, 0, 1, True)])
    seen = watch(history, 2 * DAY_S, 4 * DAY_S)
    assert days(seen.changes.at) == [2, 4]
    assert seen.lives.page.tolist() == [0, 1]
    assert links(history, seen).page.tolist() == [0]
    after = watch(history, 6 * DAY_S)
    assert after.lives.died.tolist() == [True, False]


def test_a_link_that_is_noted_twice_is_one(made_up):
    log = [(0, 0, 1, True), (1, 0, 1, True), (2, 0, 1, False), (3, 0, 1, False), (4, 0, 0, True)]
    history = made_up([(0, 0, 0), (0, 1, 0), (9, 0, 1)], links=log)
    found = links(history, watch(history))
    assert list(zip(days(found.began_at), days(found.ended_at), found.went.tolist(), strict=True)) == [
        (4, 9, False), (0, 2, True)
    ]  # fmt: skip


def test_a_change_is_found_by_the_first_look_after_it(made_up):
    looks = np.array([0, 1, 2, 5, 5, 9]) * 86_400
    seen = CrawlSeen(looks[[5, 3]], np.zeros(2, bool), ("",) * 2, ("",) * 2, np.array([0, 1, 0, 0, 1, 0]), looks)
    rows = [(0, 0, 0), (1, 1, 0), (4, 0, 1, 1, 1), (5, 1, 1, 1, 1), (9, 0, 1, 2, 2)]
    changes = watch(made_up(rows, seen=seen)).changes
    assert days(changes.found_at) == [5, 9, 5]
    assert days(changes.unseen_s) == [3, 4, 4]
    known = watch(made_up(rows)).changes
    assert (days(known.found_at), days(known.unseen_s)) == ([4, 9, 5], [0, 0, 0])


def test_looks_count_that_have_one_before_or_the_beginning(made_up):
    looks = np.array([0, 1, 2, 3, 4, 5]) * 86_400
    seen = CrawlSeen(looks[[5, 3]], np.zeros(2, bool), ("",) * 2, ("",) * 2, np.array([0, 0, 0, 1, 0, 0]), looks)
    history = made_up([(0, 0, 0), (3, 1, 0)], seen=seen)
    assert watch(history).looks.tolist() == [4, 0]
    assert watch(history, DAY_S, 4 * DAY_S).looks.tolist() == [3, 0]
    assert watch(history, 0, 2 * DAY_S).looks.tolist() == [2, 0]
    assert np.isnan(watch(made_up([(0, 0, 0)])).looks).all()
