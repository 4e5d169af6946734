"""How thin a site's source is by the time it reaches an unread page."""

import numpy as np
import pytest

from evercrawl.store.cash.spread import ELSEWHERE, IN_CELL, INFLOW, KEPT, expected, in_cells, thinner
from evercrawl.store.table.table import NO_RECORD, ROOT


def part(spread):
    return float(expected(np.zeros(1), np.array([NO_RECORD | spread << IN_CELL], np.uint32))[0])


@pytest.mark.parametrize("count", [1, 2, 7, 40, 1000])
def test_what_a_page_has_is_shared_among_those_it_made_known(count):
    for spread in (0, 24, 100):
        assert count * part(thinner(spread, count)) == pytest.approx(KEPT * part(spread), rel=0.05)


def test_a_calendar_dies_out_and_an_article_does_not():
    front, section = thinner(0, 30), thinner(thinner(0, 30), 30)
    day = front
    for _ in range(6):
        day = thinner(day, 2)
    assert part(day) < part(section) / 20


def test_the_thinnest_stays_the_thinnest():
    assert thinner(255, 1000) == thinner(250, 1 << 40) == 255
    assert part(255) > 0


def test_cash_counts_up_to_what_is_expected_of_a_page():
    cells = np.full(3, NO_RECORD | ELSEWHERE << IN_CELL, np.uint32)
    assert expected(np.array([0.0, 0.01, 5.0]), cells).tolist() == [1 / 32, 1 / 32 + 0.01, (1 + INFLOW) / 32]


def test_of_a_root_nothing_is_guessed():
    cells = np.array([NO_RECORD | ROOT], np.uint32)
    assert expected(np.array([0.3]), cells).tolist() == [0.3]


def test_depth_and_redirects_stay_out_of_it():
    cells = in_cells(np.array([24], np.uint8)) | np.uint32(NO_RECORD | 0xFFFF)
    assert expected(np.zeros(1), cells).tolist() == [0.125]
