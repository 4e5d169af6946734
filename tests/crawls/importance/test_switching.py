"""Another scheme of importance on a crawl that is there: its past is judged anew, and a crash costs no cash."""

import shutil
from itertools import pairwise

import numpy as np
import pytest
from msgspec.structs import replace
from soak import in_soak, some_in_soak

from evercrawl.ask.status import status
from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.state import compare
from evercrawl.ask.verify.verify import inspect, verify
from evercrawl.config import Config
from evercrawl.importance.base import Links
from evercrawl.model.policy.schemes import scheme_of, stored, wanted
from evercrawl.model.view import View
from evercrawl.progress import Limits
from evercrawl.simulate.living.beliefs import rank_correlation
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import Passed, Switched, VirtualSpent, Visit
from evercrawl.store.records.records import MEMBER
from evercrawl.store.scheme import Scheme
from evercrawl.types import NO_SLOT

HOSTS = ("http://a.example", "http://b.example", "http://c.example")
SEEDS = [f"{origin}/" for origin in HOSTS]
WEB = MadeWeb(seed=5, origins=HOSTS, pages=6)
SETTINGS = {"latency_s": lambda _: 0.1, "delay_s": 0.2, "refresh_after_s": 20.0}
MANY = Limits(seconds=250)
PUSH = stored("push", 0.1)
OTHERS = {"push": PUSH, "uniform": stored("uniform", 0.1)} | {
    name: stored("aopic", 0.1, name)
    for name in ("unbounded", "two_windows", "variable", "variable:6", "interpolation:6v", "exponential:2m")
}
AS_PUBLISHED = replace(stored("aopic", 0.1), convention="link", virtual="pages", in_turn=True)
FOCUSED = replace(AS_PUBLISHED, virtual="focused")
OTHERS |= {"as published": AS_PUBLISHED, "focused": FOCUSED, "little tax": replace(PUSH, tax=0.05)}


def importance(run) -> np.ndarray:
    """Return the importance of all pages as a question finds it."""
    partition = run.restored()
    found = View(partition, Config(), run.now).importance.copy()
    partition.close()
    return found


def laws(run) -> None:
    found = verify(run.directory)
    assert (found.wrong, found.mends) == ([], [])
    run.same()


def events(run):
    partition = run.folded()
    found = [event for _, _, event in partition.journal.replay()]
    partition.close()
    return found


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where the crawl by push is kept that tests begin with, and how its runner stood."""
    return tmp_path_factory.mktemp("kept") / "push", dict[str, object]()


def crawled_by_push(run, kept) -> None:
    """Crawl by push; the first test does, the others have a copy."""
    directory, stood = kept
    if not stood:
        run(run.World(WEB), SEEDS, MANY, scheme=PUSH, **SETTINGS)
        shutil.copytree(run.directory, directory)
        stood.update(now=run.now, runs=run.runs, read_robots_at=dict(run.read_robots_at))
        return
    shutil.copytree(directory, run.directory)
    run.now, run.runs, run.read_robots_at = stood["now"], stood["runs"], dict(stood["read_robots_at"])


def anew(run, name: str) -> None:
    run.directory, run.now, run.runs = run.directory.parent / name, 1.7e9, 0
    run.read_robots_at.clear()


RARELY = ("unbounded", "variable", "variable:6", "exponential:2m", "as published", "little tax")


@pytest.mark.parametrize("name", some_in_soak(OTHERS, RARELY))
def test_a_crawl_that_was_switched_thinks_what_one_does_that_was_begun_so(run, name, kept):
    goal = OTHERS[name]
    if name == "push":
        run(run.World(WEB), SEEDS, MANY, scheme=stored("aopic", 0.1), **SETTINGS)
    else:
        crawled_by_push(run, kept)
    before = len(events(run))
    ran = run(run.World(WEB), [], Limits(seconds=0), switch=goal, **SETTINGS)
    laws(run)
    switched = importance(run)
    assert [type(event) for event in ran.events[before:]].count(Switched) == 1
    assert set(map(type, ran.events[before:])) <= {Switched, Passed, VirtualSpent}
    assert ran.said[0].startswith(f"from now on importance is learned by {goal.name}")

    anew(run, "begun")
    run(run.World(WEB), SEEDS, MANY, scheme=goal, **SETTINGS)
    begun = importance(run)
    assert len(switched) == len(begun)
    if name in ("unbounded", "interpolation:6v", "exponential:2m", "as published", "focused"):
        # late, or never, it forgets that at the beginning seeds had all the cash, as nobody else was known
        assert np.abs(switched - begun)[len(SEEDS) :].sum() < 0.1
    else:
        assert np.abs(switched - begun).sum() < 0.06  # of 1
        assert name == "uniform" or rank_correlation(switched, begun) > 0.95


def test_what_is_switched_back_is_as_it_was(run, kept):
    crawled_by_push(run, kept)
    before = importance(run)
    for goal in (stored("aopic", 0.1), stored("uniform", 0.1), PUSH):
        run(run.World(WEB), [], Limits(seconds=0), switch=goal, **SETTINGS)
        laws(run)
    assert np.abs(importance(run) - before).sum() < 0.02


@pytest.mark.parametrize(
    "goal",
    [stored("push", 1.0), stored("push", 0.1, trusted=("a.example",)), stored("aopic", 0.1, "exponential")],
    ids=["internal", "trusted", "window"],
)
def test_so_is_whatever_else_importance_depends_on(run, goal):
    first = stored("aopic", 0.1) if goal.handout else PUSH
    run(run.World(WEB), SEEDS, MANY, scheme=first, **SETTINGS)
    run(run.World(WEB), [], Limits(seconds=0), switch=goal, **SETTINGS)
    laws(run)
    switched = importance(run)
    anew(run, "begun")
    run(run.World(WEB), SEEDS, MANY, scheme=goal, **SETTINGS)
    assert np.abs(switched - importance(run)).sum() < 0.1


def test_nothing_is_done_where_all_is_as_it_should_be(run):
    run(run.World(WEB), SEEDS, Limits(seconds=20), scheme=PUSH, **SETTINGS)
    ran = run(run.World(WEB), [], Limits(seconds=0), switch=wanted(Config(), PUSH), **SETTINGS)
    assert not any(isinstance(event, Switched) for event in ran.events)


def solved(run) -> np.ndarray:
    """Return what importance is by the links of the crawl, the virtual page being one more page that leads to all."""
    partition = run.restored()
    state, scheme = partition.state, scheme_of(partition.scheme)
    scheme_is_focused = partition.scheme.virtual == "focused"  # then pages never read are given as much
    count = state.known.count
    chain = np.zeros((count + 1, count + 1))
    for slot in range(count):
        index = state.record_of(slot)
        row = None if index is None else state.records.rows[index]
        member = bool(row["flags"] & MEMBER) if row is not None else scheme_is_focused
        chain[count, slot] = member
        event = partition.journal.read(int(row["event"])) if row is not None and row["event"] else None
        if isinstance(event, Visit):
            links = Links(out=event.out, through=event.alias != NO_SLOT)
            targets = [event.alias] if links.through else decode_slots(event.targets).tolist()
            chain[slot, targets] = scheme.each(1.0, links)[1]
    partition.close()
    chain[count] /= chain[count].sum()
    chain[:count, count] = 1 - chain[:count].sum(axis=1)
    values, vectors = np.linalg.eig(chain.T)
    found = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))[:count]
    return found / found.sum()


@pytest.mark.parametrize(
    ("convention", "virtual"), [("link", "pages"), ("tax", "focused"), *in_soak(("link", "focused"), ("tax", "pages"))]
)
def test_as_published_it_is_what_a_solution_of_the_links_says(run, convention, virtual):
    """Pages of one site that hardly changes: the cash that each moved is its part of the walk's time."""
    web = MadeWeb(seed=3, origins=HOSTS[:1], pages=12, changing=0)
    goal = replace(stored("aopic", 1.0, "unbounded"), convention=convention, tax=0.7, virtual=virtual, in_turn=True)
    run(run.World(web), SEEDS[:1], Limits(seconds=2000), scheme=goal, **SETTINGS)
    laws(run)
    found, true = importance(run), solved(run)
    assert np.abs(found / found.sum() - true).sum() < 0.06
    other = replace(goal, convention="tax" if convention == "link" else "link")
    run(run.World(web), [], Limits(seconds=0), switch=other, **SETTINGS)
    assert np.abs(solved(run) - true).sum() > 0.06  # so the test can tell the two apart


@pytest.mark.parametrize("window", ["variable:6", "interpolation:3", "fixed:6v", "exponential:60s"])
def test_the_size_of_a_window_is_kept_through_restarts(run, window):
    goal = stored("aopic", 0.1, window)
    lengths = list[float]()
    for seconds in (60, 30, 30):
        ran = run(run.World(WEB), SEEDS, Limits(seconds=seconds), scheme=goal, switch=goal, **SETTINGS)
        partition = run.restored()
        assert partition.scheme.window == window
        lengths.append(View(partition, Config(), run.now).scheme.window.length)
        partition.close()
    assert not any(isinstance(event, Switched) for event in ran.events)
    laws(run)
    if window in ("fixed:6v", "exponential:60s"):  # cash moves at an even pace in this web
        assert lengths[2] == pytest.approx(lengths[1], rel=0.5)
    else:
        assert lengths == [lengths[0]] * 3


def test_another_size_is_another_scheme(run):
    small, large = (stored("aopic", 0.1, f"interpolation:{size}") for size in (1, 40))
    run(run.World(WEB), SEEDS, MANY, scheme=small, **SETTINGS)
    before = importance(run)
    ran = run(run.World(WEB), [], Limits(seconds=0), switch=large, **SETTINGS)
    assert any(isinstance(event, Switched) for event in ran.events)
    assert np.abs(importance(run) - before).sum() > 0.01


def test_an_old_crawl_keeps_its_window_and_learns_what_it_has_to_keep(run):
    """Before there was a choice aopic had one window, and kept nothing of a page for it."""
    old = Scheme("aopic", True, 0.1)
    goal = wanted(Config(importance="aopic"), old)
    assert (goal.window, goal.width) == ("interpolation", 1)
    assert wanted(Config(importance="aopic"), goal) == goal


@pytest.mark.parametrize("goals", [(stored("aopic", 0.1), PUSH), *in_soak(((PUSH, stored("aopic", 0.1, "variable")),))])
def test_after_a_crash_at_any_step_of_a_switch_no_cash_is_missing(run, goals, monkeypatch):
    """Each run dies one operation later than the one before; the scheme that is asked for changes now and then."""
    monkeypatch.setattr("evercrawl.crawl.switching.BATCH", 20)
    run(run.World(WEB), SEEDS, Limits(seconds=60), scheme=goals[1], **SETTINGS)
    begun = {"midst": 0, "done": 0}
    for dies_at in range(1, 32):
        goal = goals[dies_at // 11 % 2]
        try:
            disk = run.DyingDisk(run.directory, dies_at)
            run(run.World(WEB), [], Limits(seconds=0), switch=goal, disk=disk, **SETTINGS)
        except run.Crash:
            run.now += 5.0
        for open_it in (run.folded, run.restored):
            partition = open_it()
            assert abs(partition.state.cashbook.owed()) < 1e-9
            begun["midst" if partition.unswitched else "done"] += 1
            view = View(partition, Config(), run.now)
            assert view.importance.sum() == pytest.approx(1.0)
            assert view.scheme.handout == partition.state.accounts.handout
            partition.close()
        partition, found = run.restored(), Findings()
        inspect(partition, found, interrupted=True)
        partition.close()
        assert not found.wrong
    assert min(begun.values()) > 3
    run(run.World(WEB), [], Limits(seconds=30), switch=goals[0], **SETTINGS)
    laws(run)
    partition = run.folded()
    assert partition.scheme == partition.birth.scheme == goals[0]
    assert partition.birth.first == goals[1]
    partition.close()


def test_a_switch_that_was_cut_short_is_begun_anew_though_nobody_asks_again(run, monkeypatch):
    monkeypatch.setattr("evercrawl.crawl.switching.BATCH", 20)
    run(run.World(WEB), SEEDS, Limits(seconds=60), scheme=PUSH, **SETTINGS)
    before = importance(run)
    goal = stored("aopic", 0.1)
    with pytest.raises(run.Crash):
        run(run.World(WEB), [], Limits(seconds=0), switch=goal, disk=run.DyingDisk(run.directory, 9), **SETTINGS)
    partition = run.folded()
    assert partition.unswitched
    assert partition.scheme == goal
    partition.close()
    assert "the next start judges its past anew" in verify(run.directory).mends[-1]
    ran = run(run.World(WEB), [], Limits(seconds=0), switch=wanted(Config(), PUSH), **SETTINGS)
    assert [event.scheme for event in ran.events if isinstance(event, Switched)] == [goal, PUSH]
    laws(run)
    assert np.abs(importance(run) - before).sum() < 0.05


def in_steps(steps: int):
    """Return what asks to end after so many steps, and what it is asked again for the next run."""
    left = [steps]

    def ends() -> bool:
        left[0] -= 1
        return left[0] < 0

    return ends


@pytest.mark.parametrize("goal", [stored("aopic", 0.1), PUSH])
def test_a_switch_that_is_asked_to_end_goes_on_where_it_was(run, goal, monkeypatch):
    """Ended again and again, it comes to the very cash of one that was left alone."""
    monkeypatch.setattr("evercrawl.crawl.switching.BATCH", 20)
    monkeypatch.setattr("evercrawl.crawl.switching.PIECE", 5)
    first = PUSH if goal.handout else stored("aopic", 0.1)
    ends, began = [], run.now
    for name, steps in (("whole", 10**9), ("parts", 50 if goal.handout else 12)):
        anew(run, name)
        run(run.World(WEB), SEEDS, Limits(seconds=60), scheme=first, **SETTINGS)
        said = []
        for again in range(1, 20):  # what was judged before takes steps too: it is read over
            ran = run(run.World(WEB), [], Limits(seconds=0), switch=goal, ends=in_steps(steps * again), **SETTINGS)
            said += ran.said
            partition = run.folded()
            done = not partition.unswitched
            assert abs(partition.state.cashbook.owed()) < 1e-9
            partition.close()
            if done:
                break
            assert "the next start continues there" in ran.said[-1]
            assert "judges the rest of its past" in verify(run.directory).mends[-1]
        assert [type(event) for event in ran.events].count(Switched) == 1, "it is begun once"
        assert ("the rest of the history is settled" in " ".join(said)) == (name == "parts")
        laws(run)
        ends.append((importance(run), [event for event in ran.events if isinstance(event, Passed)]))
    assert began < run.now
    if goal.handout:
        assert [event.transfer for event in ends[0][1]] == [event.transfer for event in ends[1][1]]
    assert np.abs(ends[0][0] - ends[1][0]).sum() < (1e-9 if goal.handout else 0.01)


def test_after_a_crash_a_switch_that_had_been_asked_to_end_begins_anew(run, monkeypatch):
    """What a run after it had moved may be lost, or not; nobody counted it."""
    monkeypatch.setattr("evercrawl.crawl.switching.BATCH", 20)
    run(run.World(WEB), SEEDS, Limits(seconds=60), scheme=PUSH, **SETTINGS)
    goal = stored("aopic", 0.1)
    run(run.World(WEB), [], Limits(seconds=0), switch=goal, ends=in_steps(40), **SETTINGS)
    with pytest.raises(run.Crash):
        run(run.World(WEB), [], Limits(seconds=0), switch=goal, disk=run.DyingDisk(run.directory, 4), **SETTINGS)
    ran = run(run.World(WEB), [], Limits(seconds=0), switch=goal, **SETTINGS)
    assert [type(event) for event in ran.events].count(Switched) == 2
    laws(run)


def test_another_goal_than_the_one_that_was_asked_to_end_begins_anew(run):
    run(run.World(WEB), SEEDS, Limits(seconds=60), scheme=PUSH, **SETTINGS)
    run(run.World(WEB), [], Limits(seconds=0), switch=stored("aopic", 0.1), ends=in_steps(40), **SETTINGS)
    ran = run(run.World(WEB), [], Limits(seconds=0), switch=stored("aopic", 0.1, "exponential"), **SETTINGS)
    assert [type(event) for event in ran.events].count(Switched) == 2
    laws(run)


def test_a_switch_back_that_was_cut_short_too_is_not_taken_for_ended(run, monkeypatch):
    """By then the journal ends with the scheme that the crawl is said to have."""
    monkeypatch.setattr("evercrawl.crawl.switching.BATCH", 20)
    run(run.World(WEB), SEEDS, Limits(seconds=60), scheme=PUSH, **SETTINGS)
    before = importance(run)
    for goal in (stored("aopic", 0.1), PUSH):
        with pytest.raises(run.Crash):
            run(run.World(WEB), [], Limits(seconds=0), switch=goal, disk=run.DyingDisk(run.directory, 6), **SETTINGS)
    partition = run.folded()
    assert partition.scheme == partition.birth.scheme == PUSH
    assert partition.unswitched
    partition.close()
    assert "the next start judges its past anew" in verify(run.directory).mends[-1]
    assert "the next start judges its past anew" in status(run.directory).repairs[-1]
    run(run.World(WEB), [], Limits(seconds=0), switch=wanted(Config(), PUSH), **SETTINGS)
    laws(run)
    assert np.abs(importance(run) - before).sum() < 0.05


def test_the_clock_and_all_histories_begin_anew(run):
    run(run.World(WEB), SEEDS, Limits(seconds=60), scheme=stored("aopic", 0.1), **SETTINGS)
    ran = run(run.World(WEB), [], Limits(seconds=0), switch=stored("uniform", 0.1), **SETTINGS)
    partition = run.restored()
    state = partition.state
    rows = state.records.rows[: state.records.count]
    assert not rows["importance"].any()
    assert not state.table.cash[: state.known.count].any()
    assert (state.accounts.total, state.accounts.held(), state.records.kept.shape[1]) == (0.0, 0.0, 0)
    partition.close()
    assert all(one.at <= other.at for one, other in pairwise(ran.events[-3:]) if hasattr(one, "at"))


def test_what_a_snapshot_keeps_otherwise_is_found(run):
    run(run.World(WEB), SEEDS, Limits(seconds=30), scheme=stored("aopic", 0.1), **SETTINGS)
    folded, restored = run.folded(), run.restored()
    restored.state.records.kept[3, 1] += 1.0
    restored.state.born[4] += 1.0
    found = Findings()
    compare(restored.state, folded.state, found)
    assert [sentence.partition(":")[0] for sentence in found.wrong] == [
        "the snapshot's births",
        "the snapshot's windows",
    ]
    folded.close()
    restored.close()


def test_how_far_it_has_come_is_said_again_and_again(run, monkeypatch):
    monkeypatch.setattr("evercrawl.crawl.switching.TOLD_S", 0.0)
    run(run.World(WEB), SEEDS, Limits(seconds=60), scheme=PUSH, **SETTINGS)
    ran = run(run.World(WEB), [], Limits(seconds=0), switch=stored("aopic", 0.1), **SETTINGS)
    parts = [int(one.rpartition(": ")[2].split("%")[0]) for one in ran.said if "of the history is settled" in one]
    assert len(parts) > 10
    assert parts == sorted(parts)
    assert 0 <= parts[0] < 20 < 80 < parts[-1] <= 100
