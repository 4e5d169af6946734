"""Whatever the policy: values are numbers, nothing is forgotten, one page is enough, and a restart changes nothing."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, partial

import numpy as np
import pytest

from evercrawl import catalog, schedule
from evercrawl.ask.policies.docs import described
from evercrawl.schedule.abilities import Assesses, Learns, Plans, Resumes, Tabulates, assessed, notes_of, p_fresh
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.pages import Facts, Pages, Visits
from evercrawl.types import Slots

FOUND = catalog.find(schedule.policies, Policy)  # type: ignore[type-abstract]
EVERY = pytest.mark.parametrize("name", sorted(FOUND))
WAITS = {
    "nutch_adaptive": "it visits what is due, and nothing before",
    "tianwang": "it waits for its next cycle when all that is planned is done",
}
"""Policies that leave visits unused while no page is due, and why."""
_NUMBER = re.compile(r"_\d[\d.e+-]*")
DAY_S = 86_400.0
BEGAN_AT = 20_000 * DAY_S
PAGES, HOSTS, CYCLES = 16, 4, 9
CYCLE_S = 10 * DAY_S
OPTIONS: dict[str, dict[str, float]] = {"webfountain": {"count": 1, "cycle_periods": 1}}
"""Of policies that would take long otherwise."""
ABANDONS = {
    "azar": "what changes too often for what it matters has no rate",
    "marked_point": "what gains less than other pages' next visits has no visit in the horizon",
    "notices": "told what is stale, it has no use for a visit to what is not",
    "optimal": "what changes too often for what it matters has no rate",
    "partition": "a group whose representative is not worth a visit has no rate",
    "polling": "visits go to what changes, so that what hardly does waits for as long as that takes",
    "proportional": "visits go to what changes, so that what hardly does waits for as long as that takes",
}
"""Policies that, as they were published, leave pages alone for good once they were read, and why."""
LEFT_UNREAD = {"chile": "by gain alone, a page that always changed outdoes one that promises less"}
"""Policies under which a page is not read at all while others change, and why."""
WAITS = {
    "nutch_adaptive": "it visits what is due, and nothing before",
    "tianwang": "it waits for its next cycle when all that is planned is done",
}
"""Policies that leave visits unused while no page is due, and why."""
BEGINS_ANEW = {"chile": "the batch that was picked is not remembered; the next run picks one"}
"""Policies that do not go on where they were, and why."""


def every(but: dict[str, str], names: Iterable[str] = FOUND) -> pytest.MarkDecorator:
    """Ask every policy; those that are excepted have to fail."""
    marks = {name: pytest.mark.xfail(raises=AssertionError, strict=True, reason=why) for name, why in but.items()}
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=marks.get(name, ())) for name in sorted({*names, *but})]
    )


class World:
    """A few hosts that need no rest, pages that change at random, and a policy that is told of it."""

    def __init__(self, policy: Policy, pages: int = PAGES, seed: int = 1, weight: float | None = None) -> None:
        self.draw = np.random.default_rng(seed)
        self.policy, self.now = policy, BEGAN_AT
        self.weight = np.exp(self.draw.normal(0.0, 0.4, pages)) if weight is None else np.full(pages, weight)
        self.lam = np.exp(self.draw.normal(-1.0, 1.0, pages)) / CYCLE_S
        self.lam[0] *= 100
        self.visited_at = np.full(pages, np.nan)
        self.host = np.arange(pages) % HOSTS
        self.visits, self.told = np.zeros(pages, np.int64), list[Visits]()
        self.pace_s, self.plan_at = CYCLE_S / pages, BEGAN_AT
        self.frontier = Frontier(policy, self.columns, lambda slot: float(self.visited_at[slot]), refresh_after_s=0.0)
        for number in range(HOSTS):
            self.frontier.add_host(f"h{number}").delay_s = 0.0
        for slot in range(pages):
            self.frontier.add_new(int(self.host[slot]), [slot])

    def columns(self, slots: Slots) -> Pages:
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        new = np.isnan(self.visited_at[slots])
        waited_s = self.now - np.where(new, BEGAN_AT, self.visited_at[slots])
        stale = np.where(new, 0.0, self.lam[slots] * waited_s)
        notice = np.where(stale > 0.5, np.inf if self.policy.clairvoyant else 0.0, 0.0)
        weight, host = self.weight[slots], self.host[slots].astype(np.uint32)
        return Pages(
            slots, self.visited_at[slots], weight, weight * waited_s / CYCLE_S, 2 * one, 2 / self.lam[slots], one,
            none, notice, in_links=1 + slots % 5 * one, rank=weight, backlog=one, site=host, retrieved=3 * one,
            clicked=one, facts=Facts(one, 30 * one, none, 20 * one, 900 * one, 20 * one, 1000 * one, 0.5 * one),
            host=host, host_backlog=one,
        )  # fmt: skip

    def seen(self) -> Slots:
        return np.flatnonzero(~np.isnan(self.visited_at)).astype(np.uint32)

    def turn(self) -> None:
        """Let a visit's time pass, and make a visit where the policy wants one."""
        self.now += self.pace_s
        seen = self.seen()
        if isinstance(self.policy, Plans) and self.now >= self.plan_at and len(seen):
            self.plan_at = self.policy.plan(self.columns(seen), len(self.visits) - len(seen), Context(self.now))
            assert self.plan_at > self.now
        assert np.isfinite(
            self.policy.value(self.columns(np.arange(len(self.visits), dtype=np.uint32)), Context(self.now))
        ).all()
        assert not np.isnan(self.policy.due(self.columns(seen), Context(self.now))).any()
        for host, slot, _ in self.frontier.choose(self.now, 1, self.policy.min_value):
            self.frontier.began(host, self.now)
            self.frontier.ended(host, self.now)
            self.visit(slot)
            self.frontier.add_seen(host.number, slot)

    def visit(self, slot: int) -> None:
        interval_s = self.now - self.visited_at[slot]
        changed = not np.isnan(interval_s) and self.draw.random() < -np.expm1(-self.lam[slot] * interval_s)
        self.visited_at[slot], self.visits[slot] = self.now, self.visits[slot] + 1
        yes, no, some = np.array([True]), np.array([False]), np.array([4])
        visit = Visits(
            np.array([slot], np.uint32), np.array([self.host[slot]], np.uint32), np.array([self.now]),
            np.array([interval_s]), yes, no, np.array([changed]), np.array([np.nan]), np.array([500.0]),
            np.array([9000.0]), some, no, 0 * some, host=np.array([self.host[slot]], np.uint32),
        )  # fmt: skip
        self.told.append(visit)
        if isinstance(self.policy, Learns):
            self.policy.learn(visit)


@pytest.fixture(autouse=True, scope="module")
def _forgotten() -> Iterator[None]:
    """Let the worlds go once all have been looked at."""
    yield
    after_run.cache_clear()


def ran(name: str, pages: int = PAGES, weight: float | None = None) -> World:
    world = World(FOUND[name](**OPTIONS.get(name, {})), pages, weight=weight)
    for _ in range(pages * CYCLES):
        world.turn()
    return world


@cache
def after_run(name: str) -> World:
    """The world of a policy after its run, for several tests, without the frontier, whose columns are large."""
    world = ran(name)
    del world.frontier
    return world


@every(but=LEFT_UNREAD)
def test_every_page_is_read(name: str) -> None:
    assert after_run(name).visits.min() >= 1


@every(but=ABANDONS | LEFT_UNREAD)
def test_every_page_is_read_again(name: str) -> None:
    assert after_run(name).visits.min() >= 2


@every(but=WAITS)
def test_no_visit_is_left_unused(name: str) -> None:
    assert after_run(name).visits.sum() == PAGES * CYCLES


@EVERY
def test_its_tables_are_as_they_are_told(name: str) -> None:
    told = {table.name: table.columns for table in described(name, FOUND[name]).tables}
    policy, now = after_run(name).policy, Context(after_run(name).now)
    tables = policy.tables(now) if isinstance(policy, Tabulates) else {}
    kept = {name: list(columns) for name, columns in tables.items()}
    assert sorted(kept) == sorted(told)
    for table, columns in kept.items():
        named = dict.fromkeys(_NUMBER.sub("_N", "url" if each == "slot" else each) for each in columns)
        assert list(named) == [column.name for column in told[table]]


@EVERY
@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_one_page_is_enough_even_if_it_matters_to_nobody(name: str, weight: float) -> None:
    assert ran(name, pages=1, weight=weight).visits[0] >= 2


@EVERY
def test_no_page_at_all_is_no_trouble(name: str) -> None:
    world = World(FOUND[name](**OPTIONS.get(name, {})), pages=1)
    none = np.zeros(0, np.uint32)
    assert len(world.policy.value(world.columns(none), Context(world.now))) == 0
    assert len(world.policy.due(world.columns(none), Context(world.now))) == 0
    if isinstance(world.policy, Plans):
        assert world.policy.plan(world.columns(none), 1, Context(world.now)) > world.now


@EVERY
def test_both_questions_at_once_have_the_answers_of_each(name: str) -> None:
    """Of two policies that went the same way, one is asked both, the other each."""
    worlds = [World(FOUND[name](**OPTIONS.get(name, {}))) for _ in range(2)]
    for world in worlds:
        for _ in range(PAGES):
            world.turn()
    pages, now = worlds[0].columns(worlds[0].seen()), worlds[0].now
    n = len(pages.slot)
    assert n > 3
    for valued, due_from in ((n - 2, 2), (n, n), (0, 0)):
        policy = worlds[0].policy
        assess = policy.assess if isinstance(policy, Assesses) else partial(assessed, policy)
        values, due, fresh = assess(pages, Context(now), valued, due_from)
        np.testing.assert_array_equal(worlds[1].policy.value(pages, Context(now))[:valued], values)
        if due_from < n:
            np.testing.assert_array_equal(worlds[1].policy.due(pages.part(due_from, n), Context(now)), due)
        if fresh is not None:
            np.testing.assert_array_equal(p_fresh(worlds[1].policy, pages, Context(now))[:valued], fresh)


ABOUT_S = {"price": 1800.0}
"""By how much due times may differ after a restart: folder clocks fill in the time that passed when they are asked,
from what was known then, and nobody asked the restarted policy meanwhile. Pages here are visited every few days."""


@every(but=BEGINS_ANEW, names=[name for name in FOUND if issubclass(FOUND[name], Learns)])
def test_a_restart_that_is_told_of_the_visits_again_goes_on_as_before(name: str) -> None:
    world = after_run(name)
    again = FOUND[name](**OPTIONS.get(name, {}))
    for visit in world.told:
        again.learn(visit)
    seen, now = world.columns(world.seen()), world.now + 1.0
    new = PAGES - len(seen.slot)
    for policy in (world.policy, again):
        if isinstance(policy, Resumes):
            policy.resume(notes_of(world.policy))
        if isinstance(policy, Plans):
            policy.plan(seen, new, Context(now))
    due, values = (ask(seen, Context(now)) for ask in (world.policy.due, world.policy.value))
    np.testing.assert_allclose(again.due(seen, Context(now)), due, rtol=1e-12, atol=ABOUT_S.get(name, 0.0))
    if name in ABOUT_S:
        np.testing.assert_allclose(again.value(seen, Context(now)), values, rtol=0.01)
        return
    order = np.lexsort((seen.slot, np.round(values, 9)))
    np.testing.assert_array_equal(np.lexsort((seen.slot, np.round(again.value(seen, Context(now)), 9))), order)


def test_only_policies_that_there_are_have_options() -> None:
    assert OPTIONS.keys() <= FOUND.keys()
