"""Sampling by site: probes of every site, then the sites where most had changed."""

import numpy as np
import pytest

from evercrawl.schedule import probing
from evercrawl.schedule.base import Pages, Visits
from evercrawl.schedule.sampling import Sampling
from evercrawl.schedule.site_shares import fit

SITE = np.repeat([0, 1, 2], 60)


def pages(visited_at: np.ndarray, site: np.ndarray = SITE) -> Pages:
    n = len(site)
    one, none = np.ones(n), np.zeros(n)
    return Pages(
        np.arange(n, dtype=np.uint32), visited_at, one, none, one, one, one, none, none, site=site.astype(np.uint32)
    )


def visit(slots: np.ndarray, at: float, changed: np.ndarray, site: np.ndarray = SITE) -> Visits:
    n = len(slots)
    none, no = np.zeros(n), np.zeros(n, bool)
    return Visits(
        slots.astype(np.uint32), site[slots].astype(np.uint32), none + at, none + 10.0, ~no, no, changed,
        none + np.nan, none, none, none.astype(int), no, none.astype(int),
    )  # fmt: skip


def picked(policy: Sampling, columns: Pages, now: float) -> np.ndarray:
    """Return which pages come before all others."""
    due = policy.due(columns, now)
    assert (policy.value(columns, now)[due < 0].min(initial=9.0)) > policy.value(columns, now)[due >= 0].max()
    return np.flatnonzero(due < 0)


def started(split: str = "greedy", size: str = "best") -> tuple[Sampling, np.ndarray, np.ndarray]:
    """Return a policy at the start of a period of 36 visits, what it probes, and when all was visited."""
    policy, visited_at = Sampling(part=0.2, split=split, size=size), np.linspace(0.0, 90.0, len(SITE))
    policy.resume({"planned_visits_per_s": 1.0})
    assert policy.plan(pages(visited_at), 0, 100.0) > 100.0
    return policy, picked(policy, pages(visited_at), 100.0), visited_at


@pytest.mark.parametrize("size", ["best", "printed"])
def test_so_many_pages_of_each_site_are_probed_as_is_best(size) -> None:
    policy, probes, _ = started(size=size)
    spread = fit(np.zeros(0), np.zeros(0))
    rule = probing.best_size if size == "best" else probing.printed_size
    each = max(round(float(rule(60, 0.2, spread))), 1)
    assert np.bincount(SITE[probes]).tolist() == [each] * 3
    assert policy.plan(pages(np.zeros(len(SITE))), 0, 100.0 + len(probes)) > 100.0 + len(probes)


@pytest.mark.parametrize("split", ["greedy", "proportional"])
def test_the_rest_goes_where_probes_had_changed(split) -> None:
    policy, probes, visited_at = started(split)
    policy.learn(visit(probes, 101.0, (SITE[probes] == 1) | ((SITE[probes] == 2) & (probes % 2 == 0))))
    visited_at[probes] = 101.0
    now = 100.0 + len(probes)
    policy.plan(pages(visited_at), 0, now)
    rest = picked(policy, pages(visited_at), now)
    counts = np.bincount(SITE[rest], minlength=3)
    assert not set(rest) & set(probes)
    assert counts.sum() == pytest.approx(36 - len(probes), abs=1)
    assert counts[1] == counts.sum() if split == "greedy" else counts[1] > counts[2] > counts[0]
    among = np.flatnonzero((SITE == 1) & (visited_at < 101.0))
    assert rest[SITE[rest] == 1].tolist() == among[: counts[1]].tolist(), "the longest unvisited of the site"


def test_a_change_counts_for_what_the_site_matters() -> None:
    policy, probes, visited_at = started()
    policy.learn(visit(probes, 101.0, (SITE[probes] == 1) | ((SITE[probes] == 2) & (probes % 2 == 0))))
    visited_at[probes] = 101.0
    columns, now = pages(visited_at), 100.0 + len(probes)
    columns.importance[SITE == 2] = 10.0
    columns.importance[-1] = 100.0
    policy.plan(columns, 0, now)
    rest = picked(policy, columns, now)
    assert set(SITE[rest]) == {2}
    assert len(SITE) - 1 in {*rest, *probes}, "the page that matters most of a site comes first"


def test_what_was_picked_and_visited_waits_again() -> None:
    policy, probes, visited_at = started()
    visited_at[probes[:2]] = 101.0
    assert picked(policy, pages(visited_at), 102.0).tolist() == probes[2:].tolist()


def test_small_sites_are_joined_where_there_are_fewer_probes_than_sites() -> None:
    site = np.arange(100)
    policy = Sampling(part=0.1)
    policy.resume({"planned_visits_per_s": 1.0})
    policy.plan(pages(np.zeros(100), site), 0, 100.0)
    assert 1 <= len(picked(policy, pages(np.zeros(100), site), 100.0)) <= 10


def test_the_sites_can_be_looked_at() -> None:
    policy, probes, _ = started()
    policy.learn(visit(probes, 101.0, SITE[probes] == 1))
    table = policy.tables(102.0)["sites"]
    assert table["site"].tolist() == [0, 1, 2]
    assert table["changed"].tolist() == [0.0, 1.0, 0.0]
