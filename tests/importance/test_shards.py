"""Shards: whatever is lost, doubled, late or forgotten in a crash, no cash is made or lost, importance is the same."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.importance import AOPIC, Push, Unbounded, offline
from evercrawl.importance.ledger.batches import Ack, CashBatch
from evercrawl.importance.ledger.shards import Shard
from evercrawl.importance.offline import Graph

PARTS, PAGES = 3, 9
TAX = Fraction(3, 20)

part = st.integers(0, PARTS - 1)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("visit"), st.integers(0, PAGES - 1), st.lists(st.integers(0, PAGES + 2), max_size=4)),
        st.tuples(st.just("remove"), st.integers(0, PAGES - 1)),
        st.tuples(st.just("send"), part),
        st.tuples(st.just("sync"), part),
        st.tuples(st.just("deliver"), st.integers(0, 50), st.booleans()),
        st.tuples(st.just("lose"), st.integers(0, 50)),
        st.tuples(st.just("crash"), part),
    ),
    max_size=40,
)


def owner(page):
    return page % PARTS


class Net:
    """Shards, and what is on the wire between them."""

    def __init__(self, scheme, number=Fraction):  # noqa: ANN204
        self.shards = [Shard(number, owner, PARTS, scheme) for number in range(PARTS)]
        self.wire = []
        for page in range(PAGES):
            cash = number(1) / PAGES if scheme.handout else number(0)
            self.shards[owner(page)].add(page, weight=number(1 + page % 2), cash=cash)
        for shard in self.shards:
            shard.sync()

    def happen(self, step):
        kind, *what = step
        getattr(self, kind)(*what)

    def visit(self, page, targets):
        self.shards[owner(page)].visit(page, targets)

    def remove(self, page):
        self.shards[owner(page)].remove(page)

    def send(self, shard):
        self.shards[shard].send()

    def sync(self, shard):
        for kind in self.shards[shard].sync():
            self.wire += kind

    def deliver(self, at, again):
        """Bring something on the wire to where it goes, in any order; perhaps it will come once more."""
        if self.wire:
            message = self.wire[at % len(self.wire)] if again else self.wire.pop(at % len(self.wire))
            shard = self.shards[message.to]
            shard.receive(message) if isinstance(message, CashBatch) else shard.settle(message)

    def lose(self, at):
        if self.wire:
            self.wire.pop(at % len(self.wire))

    def crash(self, shard):
        self.shards[shard] = self.shards[shard].recovered()


def whole(shards):
    cash = sum(page.cash for shard in shards for page in shard.pages.values())
    return cash + sum(shard.virtual + shard.in_flight(shards) for shard in shards)


@pytest.mark.parametrize("scheme", [AOPIC, Push])
@settings(deadline=None, max_examples=60)
@given(steps=steps)
def test_no_cash_is_made_or_lost_whoever_is_killed_at_any_step(scheme, steps):
    net = Net(scheme(TAX, window=Unbounded()) if scheme is AOPIC else scheme(TAX))
    for step in steps:
        net.happen(step)
        left = [shard.recovered() for shard in net.shards]
        killed = [left, *([*net.shards[:i], left[i], *net.shards[i + 1 :]] for i in range(PARTS)), net.shards]
        for shards in killed:  # all at once, each alone, none
            sources = sum(page.weight for shard in shards for page in shard.pages.values())
            assert whole(shards) == (1 if scheme is AOPIC else sources)
            assert all(shard.owed() == 0 for shard in shards)
        histories = sum(page.history for shard in net.shards for page in shard.pages.values())
        histories += sum(shard.gone_history for shard in net.shards)
        assert histories == sum(shard.moved for shard in net.shards)


def drawn():
    random = np.random.default_rng(1)
    return [random.integers(0, PAGES, 3).tolist() for _ in range(PAGES)]


def run(scheme, turns, crashes):
    """Visit in cycle, on a wire that mistreats its messages; at the end everything comes to everybody."""
    net, links, random = Net(scheme, float), drawn(), np.random.default_rng(2)
    for _ in range(turns):
        for page in range(PAGES):
            net.visit(page, links[page])
        for shard in range(PARTS):
            net.send(shard)
            net.sync(shard)
            if crashes and random.random() < 0.1:
                net.visit(shard, [])
                net.crash(shard)
        for _ in range(len(net.wire)):
            kind = random.random() if crashes else 1.0
            if kind < 0.2:
                net.lose(int(random.integers(1000)))
            else:
                net.deliver(int(random.integers(1000)) if crashes else 0, kind < 0.3)
        net.wire = net.wire[-50:]
    return net


def share(net, ahead):
    pages = [net.shards[owner(page)].pages[page] for page in range(PAGES)]
    worth = np.array([page.history + ahead * (page.cash - page.put_in) for page in pages])
    return worth / worth.sum()


@pytest.mark.parametrize("crashes", [False, True])
def test_importance_is_that_of_one_ledger(crashes):
    links = drawn()
    graph = Graph.of(PAGES, [(page, to) for page in range(PAGES) for to in links[page]])
    exact = offline.importance(graph, offline.damped(graph), np.array([1.0 + page % 2 for page in range(PAGES)]))
    pushed = run(Push(), 250, crashes)
    np.testing.assert_allclose(share(pushed, ahead=True), exact, rtol=1e-9)
    assert whole(pushed.shards) == pytest.approx(sum(1 + page % 2 for page in range(PAGES)))
    opic = run(AOPIC(window=Unbounded()), 250, crashes)
    assert np.abs(share(opic, ahead=False) - exact).sum() < 0.02
    moved = sum(shard.moved for shard in opic.shards)
    for shard in opic.shards:
        assert shard.total == pytest.approx(moved, rel=0.05), "each hears of the others' part of the clock"


def test_batches_come_in_order_and_once_or_not_at_all():
    net = Net(Push(TAX))
    here, there = net.shards[:2]
    for targets in ([1], [4]):
        here.visit(0, targets)
        here.send()
    first, second = (batch for batch in here.sync()[0] if batch.to == 1)
    assert not there.receive(second)
    assert there.receive(first)
    assert not there.receive(first)
    assert there.receive(second)
    assert not there.receive(second._replace(number=3, epoch=1))
    assert there.applied[0] == 2
    here.settle(Ack(1, 0, 1, 2))
    here.settle(Ack(1, 0, 0, 1))
    assert [key for key in here.outbox if key[0] == 1] == [(1, 2)]


def test_what_is_not_synced_is_neither_sent_nor_acknowledged():
    net = Net(Push(TAX))
    here, there = net.shards[:2]
    here.visit(0, [1])
    here.send()
    assert here.outbox
    assert here.recovered().outbox == {}
    batches, _ = here.sync()
    assert here.recovered().outbox == here.outbox
    there.receive(batches[0])
    assert there.recovered().applied[0] == 0
    assert there.sync()[1] == [Ack(1, 0, 0, 1)]
    assert there.recovered().applied[0] == 1


def test_the_virtual_page_of_a_shard_is_not_visited_alone():
    with pytest.raises(AssertionError, match="batches"):
        Net(AOPIC(TAX)).shards[0].visit_virtual()
