"""What pages get after their last visit is passed on while the crawl waits, and importance is the truer for it."""

import asyncio

import numpy as np
import pytest

from evercrawl.ask.status import status
from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.verify import inspect, verify
from evercrawl.config import Config
from evercrawl.crawl.learn.settling import LOWEST
from evercrawl.importance.push import Push
from evercrawl.importance.uniform import Uniform
from evercrawl.model.error_bound import error_bound
from evercrawl.model.policy.schemes import scheme_of, stored
from evercrawl.model.view import View
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import Passed
from evercrawl.store.scheme import Scheme
from evercrawl.types import NO_SLOT

HOSTS = ("http://a.example", "http://b.example")
WEB = MadeWeb(seed=5, origins=HOSTS, pages=40, changing=0)
SEEDS = [f"{host}/" for host in HOSTS]
ONCE = Limits(until_idle=True, seconds=3600)
WAIT = Limits(seconds=120)  # nothing falls due within the hour


def solved(partition):
    """Return x = src + xM of the crawl as it stands, by iteration over the links of its last events."""
    state, push = partition.state, scheme_of(partition.birth.scheme)
    value = np.zeros(state.known.count)
    rows = state.records.rows[: state.records.count]
    members = state.accounts.shares(state.site_of[rows["host"]]) * ((rows["flags"] & 1) != 0)
    source = np.zeros(state.known.count)
    source[rows["slot"]] = members
    events = {int(r["slot"]): partition.journal.read(int(r["event"])) for r in rows if r["event"]}
    for _ in range(200):
        brought = source.copy()
        for slot, event in events.items():
            if event.alias != NO_SLOT:
                brought[event.alias] += value[slot]
                continue
            targets = decode_slots(event.targets)
            bits = np.frombuffer(event.external.ljust(-(-len(targets) // 8), b"\0"), np.uint8)
            outside = np.unpackbits(bits, count=len(targets), bitorder="little")
            share = (1 - push.tax) * value[slot] / max(event.out, 1)
            np.add.at(brought, targets, np.where(outside, share, share * push.internal))
        value = brought
    return value


def off(run):
    """Return by how much x + r is off in all, and the largest residual, as parts of what there should be and is."""
    partition = run.folded()
    state = partition.state
    rows = state.records.rows[: state.records.count]
    part = state.accounts.shares(state.site_of[rows["host"]]) * ((rows["flags"] & 1) != 0)
    residual = state.table.cash[rows["slot"]] + part
    truth = solved(partition)[rows["slot"]]
    gives = rows["event"] != 0
    found = np.abs(rows["importance"] + residual - truth)[gives].sum() / truth[gives].sum()
    most = np.max(np.abs(residual)[gives] / (rows["importance"] + residual)[gives])
    partition.close()
    return found, most


@pytest.mark.parametrize("internal", [0.1, 1.0])
def test_importance_comes_to_rest_while_the_crawl_waits(run, internal, monkeypatch):
    monkeypatch.setattr(Push, "settles", False)
    first = run(run.World(WEB), SEEDS, ONCE, scheme=Scheme("push", False, internal))
    before, _ = off(run)
    monkeypatch.setattr(Push, "settles", True)
    ran = run(run.World(WEB), [], WAIT)
    assert len([e for e in ran.events if isinstance(e, Passed)]) > 20
    assert len(ran.visits) == len(first.visits)
    after, most = off(run)
    assert most <= LOWEST * 1.001
    assert after < min(0.06, before / 5)


@pytest.mark.parametrize("internal", [0.1, 1.0])
def test_the_bound_of_the_error_holds_and_says_something(run, internal):
    """At each stage the shares are off by no more than the crawl says; and that comes to little once it has waited."""
    bounds, errors = list[float](), list[float]()
    for seeds, limits in ((SEEDS, Limits(pages=30)), ([], ONCE), ([], WAIT), ([], Limits(seconds=1200))):
        run(run.World(WEB), seeds, limits, scheme=Scheme("push", False, internal))
        partition = run.folded()
        scheme, truth = scheme_of(partition.scheme), solved(partition)
        found = View(partition, Config(), run.now).importance
        bound = error_bound(partition.state, scheme).total
        partition.close()
        bounds.append(2.0 if bound is None else bound)
        errors.append(float(np.abs(found - truth / truth.sum()).sum()))
    assert all(error <= bound for error, bound in zip(errors, bounds, strict=True)), (errors, bounds)
    assert 0.0 < bounds[-1] < 0.2
    found = status(run.directory)
    assert found.importance_error == pytest.approx(bounds[-1])
    assert (verify(run.directory).measured["importance in sum, at most"]) == pytest.approx(bounds[-1])


def test_the_factor_of_opics_error_is_one_over_its_clock(run):
    for window, bounded in (("unbounded", True), ("interpolation:2", False)):
        run.directory = run.directory.parent / window.replace(":", "-")
        run.directory.mkdir()
        run.read_robots_at.clear()
        run(run.World(WEB), SEEDS, Limits(seconds=600), scheme=stored("aopic", 0.1, window), refresh_after_s=5.0)
        partition = run.folded()
        clock = partition.state.accounts.total
        bound = error_bound(partition.state, scheme_of(partition.scheme))
        partition.close()
        assert bound.factor == pytest.approx(1 / clock if bounded else 1 / min(clock, 2.0))
        assert (bound.total == pytest.approx(2 / (0.15 * clock))) if bounded else bound.total is None


def test_what_was_passed_on_folds_to_the_same_and_keeps_the_laws(run):
    run(run.World(WEB), SEEDS, ONCE, snapshot_every_s=2.0)
    ran = run(run.World(WEB), [], WAIT, snapshot_every_s=5.0)
    assert any(isinstance(e, Passed) for e in ran.events)
    run.same()
    partition, found = run.restored(), Findings()
    inspect(partition, found)
    partition.close()
    assert found.fine, found.wrong[:5]


def test_pages_pass_on_while_they_themselves_are_visited(run):
    """A visit settles what its page has by then, not what it had when it was asked for."""
    during = []

    async def beside(crawl) -> None:
        state = crawl.partition.state
        for _ in range(60):
            await asyncio.sleep(1.7)
            for slot in state.records.rows["slot"][: state.records.count].tolist():
                if state.records.rows["event"][state.record_of(slot)]:
                    during.append((slot, crawl._clock.now()))
                    crawl._settling._pass_on(slot, crawl._clock.now())

    world = run.World(MadeWeb(seed=5, origins=HOSTS, pages=6))
    ran = run(world, SEEDS, Limits(seconds=300), refresh_after_s=10.0, latency_s=lambda _: 5.0, during=beside)
    under_way = {(visit.slot, visit.at, visit.at + visit.fetch_s) for visit in ran.visits}
    assert any(slot == page and begun < at < ended for slot, at in during for page, begun, ended in under_way)
    run.same()
    partition, found = run.restored(), Findings()
    inspect(partition, found)
    partition.close()
    assert found.fine, found.wrong[:5]


def test_then_there_is_rest(run):
    run(run.World(WEB), SEEDS, ONCE)
    first = run(run.World(WEB), [], WAIT)
    second = run(run.World(WEB), [], WAIT)
    assert len(second.events) == len(first.events)


def test_a_scheme_that_does_not_settle_is_left_alone(run):
    ran = run(run.World(WEB), SEEDS, Limits(seconds=600), scheme=Scheme("uniform"), importance=Uniform())
    assert not any(isinstance(e, Passed) for e in ran.events)


def test_a_page_that_is_gone_passes_nothing_on(run):
    world = run.World(WEB)
    run(world, SEEDS, ONCE)
    world.pages[f"{HOSTS[0]}/p/5"] = run.Answer(404, {}, b"")
    ran = run(world, [], Limits(seconds=400), refresh_after_s=60.0)
    gone = {e.slot: e.at for e in reversed(ran.visits) if e.outcome == 7 and e.misses >= 1}
    assert gone
    for slot, at in gone.items():
        seen_again = [e.at for e in ran.visits if e.slot == slot and e.at > at and e.outcome != 7]
        until = min(seen_again, default=float("inf"))
        assert not [e for e in ran.events if isinstance(e, Passed) and e.slot == slot and at + 1 < e.at < until]
