"""Weights are PageRank of the links of the first day, and 1 for what was not linked then."""

import numpy as np
import pytest

from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.truth import truth
from evercrawl.lab.backtest.weights import links_at, weights

DAY_S = 86_400.0


def weighed(history, since=5.0):
    return weights(history, truth(history, ReplaySetting(0.1, since=since * DAY_S, until=9 * DAY_S)))


def pages(written, links, n=4):
    return written([*((0, page, "born", 1) for page in range(n)), (9, 0, "changed", 2)], links)


def test_a_cycle_is_worth_one_a_page_and_so_is_what_is_not_linked(written):
    assert weighed(pages(written, [(0, 0, 1, True), (0, 1, 0, True)])).tolist() == pytest.approx([1, 1, 1, 1])


def test_a_page_that_two_link_to_is_worth_what_pagerank_says(written):
    found = weighed(pages(written, [(0, 0, 2, True), (0, 1, 2, True), (0, 2, 0, True)]))
    x = np.array([1.0, 1.0, 1.0])
    for _ in range(200):  # each gives 0.85 of its own to those it links to, and every one has 0.15 of the mean
        x = 0.15 + 0.85 * np.array([x[2], 0.0, x[0] + x[1]])
    assert found[:3] == pytest.approx(x / x.mean(), rel=1e-6)
    assert found[3] == 1.0


def test_links_of_another_day_do_not_count(written):
    links = [(0, 0, 1, True), (0, 1, 0, True), (1, 2, 0, True), (4, 2, 0, False), (6, 3, 0, True)]
    assert weighed(pages(written, links)).tolist() == pytest.approx([1, 1, 1, 1])
    assert weighed(pages(written, links), since=7.0)[0] > 1.32


def test_the_links_of_an_instant_are_those_last_said_to_be_there(written):
    draw = np.random.default_rng(1)
    links = [(int(day), *draw.integers(5, size=2).tolist(), bool(draw.random() < 0.6))
             for day in draw.integers(20, size=200)]  # fmt: skip
    log = pages(written, links, n=5).links
    last = {}
    for source, target, at, there in zip(log.source, log.target, log.at, log.present, strict=True):
        if at <= 10 * DAY_S:
            last[int(source), int(target)] = bool(there)
    source, target = links_at(log, 10 * DAY_S)
    assert list(zip(source.tolist(), target.tolist(), strict=True)) == sorted(k for k, there in last.items() if there)
