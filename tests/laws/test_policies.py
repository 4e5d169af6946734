"""Every policy in the catalogue keeps these laws; a new file is picked up by itself."""

import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evercrawl import catalog, schedule
from evercrawl.schedule import Facts, Pages, Policy, Visits
from evercrawl.schedule.abilities import Follows, Learns, Plans
from evercrawl.schedule.base import Context
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.shared.discovery import UnreadFirst
from evercrawl.types import Floats, Slots

POLICIES = catalog.find(schedule.policies, schedule.Policy)  # type: ignore[type-abstract]
N = 8


def floats(least: float, most: float) -> st.SearchStrategy[Floats]:
    return hnp.arrays(np.float64, N, elements=st.floats(least, most))


VISITED = hnp.arrays(np.float64, N, elements=st.one_of(st.just(np.nan), st.floats(0, 1.8e9)))
PAGES = st.builds(
    Pages,
    slot=hnp.arrays(np.uint32, N, elements=st.integers(0, 2**32 - 1), unique=True),
    visited_at=VISITED,
    importance=floats(0, 1e9),
    cash=floats(-1e6, 1e6),
    shape=floats(0.1, 1e4),
    scale_s=floats(1.0, 1e10),
    cost=floats(1e-3, 1e6),
    cost_changed=floats(0, 1e7),
    neg_log_unchanged=floats(0, 5),
    in_links=hnp.arrays(np.float64, N, elements=st.integers(0, 10**6).map(float)),
    rank=floats(0, 1e3),
    backlog=hnp.arrays(np.float64, N, elements=st.integers(0, 10**9).map(float)),
)


def plain(least: float, most: float) -> st.SearchStrategy[Floats]:
    """Return numbers as crawls have them: nought, or no less than a billionth."""
    return hnp.arrays(np.float64, N, elements=st.floats(least, most).map(lambda number: round(number, 9)))


KNOWN = np.arange(N, dtype=np.uint32)
FACTS = st.builds(
    Facts, depth=floats(0, 20), url_bytes=floats(1, 2000), anchor_bytes=floats(0, 1e4),
    dynamic=hnp.arrays(np.float64, N, elements=st.sampled_from([0.0, 1.0])),
    index_bytes=floats(0, 1e6), abstract_bytes=floats(0, 500), text_bytes=floats(0, 1e7),
    similarity=floats(0, 1),
)  # fmt: skip
COUNTS = hnp.arrays(np.float64, N, elements=st.integers(0, 10**6).map(float))
OWNERS = hnp.arrays(np.uint32, N, elements=st.integers(0, 3))
FULL = st.builds(
    replace, PAGES, slot=st.just(KNOWN), importance=plain(0, 1e9), cash=plain(-1e6, 1e6), neg_log_unchanged=plain(0, 5),
    cost_changed=plain(0, 1e7), site=OWNERS, host=OWNERS, retrieved=COUNTS, clicked=COUNTS, facts=FACTS,
    host_backlog=COUNTS, announced_share=floats(0, 0.999), found_at=floats(0, 1.8e9),
    host_price_ratio=floats(1e-3, 1e3), weight_ratio=floats(1e-3, 1e3),
    comeback_scale_s=hnp.arrays(np.float64, N, elements=st.one_of(st.just(0.0), st.floats(1.0, 1e8))),
)  # fmt: skip
"""Every column that a crawl can fill."""
EACH = hnp.arrays(np.bool_, N)
TAUGHT = st.builds(
    Visits, slot=st.just(KNOWN), site=OWNERS, at=floats(1.7e9, 1.8e9), interval_s=floats(1.0, 1e7), read=EACH,
    gone=EACH, changed=EACH, age_s=floats(0, 1e7), received=floats(0, 1e7), size=floats(0, 1e7),
    links=hnp.arrays(np.int64, N, elements=st.integers(0, 1000)), relinked=EACH,
    found=hnp.arrays(np.int64, N, elements=st.integers(0, 1000)),
    folder=hnp.arrays(np.uint64, N, elements=st.integers(1, 3)),
    name=hnp.arrays(np.uint64, N, elements=st.integers(1, 3)), predicted_fresh=floats(0, 1), host=OWNERS,
    fresh_by_time=floats(0, 1),
)  # fmt: skip


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=15)
@given(pages=FULL, visits=TAUGHT, now=st.floats(1.8e9, 2e9))
def test_values_and_due_times_are_numbers_with_all_columns_and_what_visits_taught(name, pages, visits, now) -> None:
    policy = POLICIES[name]()
    if isinstance(policy, Learns):
        policy.learn(visits)
    pages = replace(pages, visited_at=np.where(np.isnan(pages.visited_at), np.nan, visits.at))
    if isinstance(policy, Plans) and len(read := pages.take(~np.isnan(pages.visited_at)).slot):
        policy.plan(pages.take(np.isin(pages.slot, read)), N - len(read), Context(now, N))
    value = policy.value(pages, Context(now, N))
    assert value.shape == (N,)
    assert np.isfinite(value).all()
    assert not np.isnan(policy.due(pages, Context(now, N))[~np.isnan(pages.visited_at)]).any()


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=25)
@given(pages=PAGES, now=st.floats(1.8e9, 2e9), picked=st.lists(st.integers(0, N - 1), max_size=N))
def test_values_are_finite_numbers_that_hang_on_no_company_and_due_times_are_numbers(name, pages, now, picked) -> None:
    """Three laws of the same pages: to draw them costs more than to hold a policy to all three."""
    policy, before = POLICIES[name](), pages.visited_at.copy()
    value = policy.value(pages, Context(now))
    assert value.shape == (N,)
    assert np.isfinite(value).all()
    assert np.array_equal(before, pages.visited_at, equal_nan=True)
    for i in range(N):
        assert policy.value(pages.part(i, i + 1), Context(now)) == value[i]
    if isinstance(policy, Follows):
        policy.chosen(value[picked], Context(now, 10))
    assert not np.isnan(policy.due(pages, Context(now))[~np.isnan(pages.visited_at)]).any()
    if isinstance(policy, Follows):
        policy.chosen(value[picked], Context(now + 1.0, 10))
    assert np.isfinite(policy.value(pages, Context(now))).all()


class World:
    """A crawl of made-up pages on a few hosts, with a clock that jumps."""

    def __init__(self, policy: Policy, hosts: int, pages: int, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.visited_at = np.full(pages, np.nan)
        self.weight, self.cash = self.draw.random(pages), self.draw.random(pages)
        self.host = self.draw.integers(0, hosts, pages).astype(np.uint32)
        self.frontier = Frontier(
            policy, self.columns, lambda slot: float(self.visited_at[slot]), delay_s=1.0, refresh_after_s=30.0
        )
        self.now = 1000.0
        for number in range(hosts):
            self.frontier.locate(self.frontier.add_host(f"h{number}"), (f"10.0.0.{number}",), self.now)

    def columns(self, slots: Slots) -> Pages:
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        return Pages(
            slots,
            self.visited_at[slots],
            self.weight[slots],
            self.cash[slots],
            one,
            100 * one,
            one,
            none,
            none,
            self.weight[slots] // 0.1,
            self.weight[slots],
            self.backlog[self.host[slots]],
        )

    @property
    def backlog(self) -> Floats:
        return np.bincount(self.host[np.isnan(self.visited_at)], minlength=len(self.frontier.hosts)).astype(float)

    def find(self, first: int, last: int) -> None:
        self.frontier.add_found(self.host[first:last].tolist(), first)

    def turn(self, most: int) -> list[int]:
        """Visit what is chosen; check that each host was asked politely."""
        slots = []
        for host, slot, new in self.frontier.choose(self.now, most):
            assert self.host[slot] == host.number
            assert new == bool(np.isnan(self.visited_at[slot]))
            assert host.ready_at <= self.now
            if not new:
                assert self.now >= self.visited_at[slot] + 30.0
            self.frontier.began(host, self.now)
            self.frontier.ended(host, self.now)
            self.visited_at[slot] = self.now
            self.frontier.add_seen(host.number, slot)
            slots.append(slot)
        self.cash *= self.draw.random(len(self.cash))
        return slots


@pytest.mark.parametrize("name", POLICIES)
@settings(deadline=None, max_examples=10)
@given(
    hosts=st.integers(1, 12), pages=st.integers(1, 120), found=st.integers(1, 60), most=st.integers(1, 8),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_no_page_is_lost_or_visited_early_and_new_ones_are_all_found(name, hosts, pages, found, most, seed) -> None:
    policy = POLICIES[name]()
    world = World(policy, hosts, pages, seed)
    known = visits = 0
    for _ in range(20 * pages + 100):
        if known < pages:
            world.find(known, known := min(known + found, pages))
        chosen = world.turn(most)
        visits += len(chosen)
        assert len(set(world.host[chosen].tolist())) == len(chosen)
        assert world.frontier.new_count + world.frontier.seen_count == known
        assert world.frontier.new_count == int(np.isnan(world.visited_at[:known]).sum())
        assert world.frontier.new_count == world.frontier.waiting_on()[0].sum()
        if chosen:
            continue
        assert world.frontier.next_at() > world.now
        if world.frontier.new_count == 0 and known == pages:
            break
        world.now = max(world.now + 0.25, min(world.frontier.next_at(), world.now + 5.0))
    assert visits
    if name in ("breadth_first", "cycle") or issubclass(POLICIES[name], UnreadFirst):
        assert not np.isnan(world.visited_at).any()
    if policy.min_value > -np.inf:
        return  # it may leave all pages alone for as long as it likes
    world.now += 31.0
    assert len(world.turn(pages)) == len(set(world.host.tolist()))  # everybody has rested and has something to offer


class Smallest(Policy):
    """A policy from outside, with plain numpy."""

    def value(self, pages: Pages, context: Context) -> Floats:
        return pages.importance


@pytest.mark.usefixtures("trusted")
def test_a_policy_from_outside_needs_only_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("elsewhere")
    module.Smallest = Smallest  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    world = World(catalog.pick(schedule.policies, Policy, "elsewhere:Smallest")(), 1, 200, 1)  # type: ignore[type-abstract]
    world.find(0, 200)
    order = []
    for _ in range(200):
        order += world.turn(1)
        world.now += 1.0
    first = [slot for i, slot in enumerate(order) if slot not in order[:i]][:20]
    assert first == np.argsort(-world.weight)[:20].tolist()


def test_every_policy_is_found() -> None:
    ours = {"breadth_first", "cycle", "greedy", "in_degree", "larger_sites", "opic", "pagerank", "price", "random"}
    published = {
        "azar", "bayes_classes", "chile", "importance_proportional", "lambda_crawl", "marked_point", "notices",
        "nutch_adaptive", "optimal", "partition", "polling", "price_gamma", "proportional", "rpuc", "sampling",
        "stormcrawler_adaptive", "tianwang", "uniform", "webfountain", "xyleme",
    }  # fmt: skip
    assert set(POLICIES) == ours | published
