"""Sampling by site: probes of every site, then the sites where most had changed."""

import numpy as np
import pytest

from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas.site_shares import fit
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.policies.sampling import SIZES, Sampling

SITE = np.repeat([0, 1, 2], 60)


def pages(visited_at: np.ndarray, site: np.ndarray = SITE) -> Pages:
    n = len(site)
    one, none = np.ones(n), np.zeros(n)
    return Pages(
        np.arange(n, dtype=np.uint32), visited_at, one, none, one, one, one, none, none, site=site.astype(np.uint32)
    )


def visit(slots: np.ndarray, at: float, changed: np.ndarray, site: np.ndarray = SITE, first: bool = False) -> Visits:
    n = len(slots)
    none, no = np.zeros(n), np.zeros(n, bool)
    since_s = none + (np.nan if first else 10.0)
    return Visits(
        slots.astype(np.uint32), site[slots].astype(np.uint32), none + at, since_s, ~no, no, changed,
        none + np.nan, none, none, none.astype(int), no, none.astype(int),
    )  # fmt: skip


def picked(policy: Sampling, columns: Pages, now: float) -> np.ndarray:
    """Return which pages come before all others."""
    due = policy.due(columns, Context(now))
    assert (policy.value(columns, Context(now))[due < 0].min(initial=9.0)) > policy.value(columns, Context(now))[
        due >= 0
    ].max()
    return np.flatnonzero(due < 0)


def found(pages_a_site: int, periods: int = 25, **options: float | str) -> tuple[float, float]:
    """Return the part of the visits that found a change, and of all pages that had changed, after five periods."""
    share = np.random.default_rng(1).beta(0.5, 2.0, 200)
    site = np.repeat(np.arange(200), pages_a_site)
    rng, n = np.random.default_rng(2), len(site)
    policy, visited_at, now = Sampling(**options), np.zeros(n), 1000.0  # type: ignore[arg-type]
    policy.resume({"planned_visits_per_s": 1.0})
    policy.learn(visit(np.arange(n), 1.0, np.zeros(n, bool), site, first=True))
    changes = visits = 0
    for period in range(periods):
        changed = rng.random(n) < share[site]
        for _ in range(2):
            until = policy.plan(pages(visited_at, site), 0, Context(now))
            rows = np.flatnonzero(policy.due(pages(visited_at, site), Context(now)) < 0)
            policy.learn(visit(rows, now + 0.5, changed[rows], site))
            visited_at[rows] = now + 0.5
            if period >= 5:
                changes, visits = changes + int(changed[rows].sum()), visits + len(rows)
            now = until + 1.0
    assert visits == pytest.approx(0.1 * n * (periods - 5), rel=0.1)
    return changes / visits, float(share[site].mean())


def started(split: str = "greedy", size: str = "exact") -> tuple[Sampling, np.ndarray, np.ndarray]:
    """Return a policy at the start of a period of 36 visits, what it probes, and when all was visited."""
    policy, visited_at = Sampling(part=0.2, split=split, size=size), np.linspace(0.0, 90.0, len(SITE))
    policy.resume({"planned_visits_per_s": 1.0})
    assert policy.plan(pages(visited_at), 0, Context(100.0)) > 100.0
    return policy, picked(policy, pages(visited_at), 100.0), visited_at


@pytest.mark.parametrize("size", SIZES)
def test_so_many_pages_of_each_site_are_probed_as_is_best(size) -> None:
    policy, probes, _ = started(size=size)
    spread = fit(np.zeros(0), np.zeros(0))
    each = max(round(float(SIZES[size](60, 0.2, spread))), 1)
    assert np.bincount(SITE[probes]).tolist() == [each] * 3
    assert policy.plan(pages(np.zeros(len(SITE))), 0, Context(100.0 + len(probes))) > 100.0 + len(probes)


@pytest.mark.parametrize("split", ["greedy", "proportional"])
def test_the_rest_goes_where_probes_had_changed(split) -> None:
    policy, probes, visited_at = started(split)
    policy.learn(visit(probes, 101.0, (SITE[probes] == 1) | ((SITE[probes] == 2) & (probes % 2 == 0))))
    visited_at[probes] = 101.0
    now = 100.0 + len(probes)
    policy.plan(pages(visited_at), 0, Context(now))
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
    policy.plan(columns, 0, Context(now))
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
    policy.plan(pages(np.zeros(100), site), 0, Context(100.0))
    assert 1 <= len(picked(policy, pages(np.zeros(100), site), 100.0)) <= 10


@pytest.mark.parametrize(("pages_a_site", "size"), [(5, "exact"), (5, "printed"), (10, "exact"), (20, "exact")])
def test_it_finds_far_more_changes_than_chance_on_small_sites_too(pages_a_site, size) -> None:
    changes, mean = found(pages_a_site, size=size)
    assert changes > 1.75 * mean


def test_what_a_page_that_came_since_the_probes_shows_is_not_told_of_another_site() -> None:
    policy, probes, visited_at = started()
    policy.learn(visit(probes, 101.0, SITE[probes] == 0))
    visited_at[probes] = 101.0
    site, now = np.append(SITE, np.full(40, 9)), 100.0 + len(probes)
    policy.plan(pages(np.append(visited_at, np.full(40, 0.5)), site), 0, Context(now))
    assert set(site[picked(policy, pages(np.append(visited_at, np.full(40, 0.5)), site), now)]) == {0}


def test_what_was_long_ago_is_forgotten_by_and_by_and_alike_however_visits_are_told() -> None:
    whole, parted = Sampling(part=0.2), Sampling(part=0.2)
    rows = np.arange(len(SITE))
    for policy in (whole, parted):
        policy.learn(visit(rows, 1.0, rows < 0, first=True))
    for turn in range(8):
        changed = (SITE == 0) & (turn < 4)
        whole.learn(visit(rows, 2.0 + turn, changed))
        for some in np.split(rows, [7, 8, 101]):
            parted.learn(visit(some, 2.0 + turn, changed[some]))
    shares = whole.shares(np.arange(3))
    assert shares.tolist() == parted.shares(np.arange(3)).tolist()
    assert shares[0] == pytest.approx(1 / (1 + 0.9**-20), abs=0.02), "20 periods ago, of five for each turn"
    assert whole.tables(20.0)["sites"]["told"].max() < 8 * 60


def test_the_sites_can_be_looked_at() -> None:
    policy, probes, _ = started()
    policy.learn(visit(probes, 101.0, SITE[probes] == 1))
    table = policy.tables(Context(102.0))["sites"]
    assert table["site"].tolist() == [0, 1, 2]
    assert table["changed"].tolist() == [0.0, 1.0, 0.0]
