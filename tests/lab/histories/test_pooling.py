"""Histories as one: nothing is lost, weekdays stay, links follow their pages."""

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.histories import History, LinkLog, load, pooled

WEEK_S = 7 * 86_400


def made(name, at, page, links=()):
    at, page = np.array(at, np.int64), np.array(page, np.int64)
    n, key = len(at), np.arange(len(at), dtype=np.uint64)
    row = [np.array(column, np.int64) for column in zip(*links, strict=True)] or [np.zeros(0, np.int64)] * 3
    log = LinkLog(*row, np.ones(len(links), np.bool_))
    op, site = np.zeros(n, np.int8), np.zeros(int(page.max(initial=-1)) + 1, np.int64)
    paths = tuple(f"{name}/{i}" for i in range(len(site)))
    sizes = np.full(n, 10, np.int64)
    state = (op, sizes, sizes, key, key)
    return History(name, at, page, *state, paths, site, (name,), log)


def test_events_and_links_follow_their_pages():
    old = made("old", [0, 100], [1, 0], [(50, 0, 1)])
    new = made("new", [3 * WEEK_S, 3 * WEEK_S + 150, 3 * WEEK_S + 200], [0, 2, 1], [(3 * WEEK_S, 2, 0)])
    both = pooled([old, new])
    assert (both.at - 3 * WEEK_S).tolist() == [0, 0, 100, 150, 200]
    assert both.page.tolist() == [1, 2, 0, 4, 3]
    assert both.simhash.tolist() == [0, 0, 1, 1, 2]
    assert both.paths == ("old/0", "old/1", "new/0", "new/1", "new/2")
    assert both.site.tolist() == [0, 0, 1, 1, 1]
    assert both.sites == ("old", "new")
    assert (both.links.at - 3 * WEEK_S).tolist() == [0, 50]
    assert (both.links.source.tolist(), both.links.target.tolist()) == ([4, 0], [2, 1])


def test_the_shipped_ones_keep_weekdays_hours_and_every_event():
    each = load("peps", "ota-contrib")
    both = pooled(each)
    assert len(both) == sum(map(len, each))
    assert len(both.at) == sum(len(one.at) for one in each)
    assert (np.diff(both.at) >= 0).all()
    for number, one in enumerate(each):
        mine = both.site[both.page] == number
        moved = both.at[mine] - one.at
        assert len(np.unique(moved)) == 1
        assert moved[0] % WEEK_S == 0
        assert 0 <= both.at[-1] - both.at[mine][-1] < WEEK_S
        np.testing.assert_array_equal(both.content[mine], one.content)


def test_what_cannot_be_pooled_is_told():
    with pytest.raises(ConfigError, match="leave it out"):
        pooled([made("some", [1], [0]), made("none", [], [])])
    with pytest.raises(ConfigError, match="one history or more"):
        pooled([])
