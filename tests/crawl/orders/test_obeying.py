"""What became of an order is said as soon as it is on the disk, however busy the crawl is."""

from types import SimpleNamespace
from typing import Any

from evercrawl.crawl.orders.obeying import ASKED_MOST, Obeying
from evercrawl.store.steering import BEGUN, OrderResult, Steered


def obeying(**results: OrderResult) -> tuple[Obeying, Any]:
    journal = SimpleNamespace(sequence=10, written=10)
    steered = Steered()
    steered.results.update(results)
    partition: Any = SimpleNamespace(state=SimpleNamespace(steered=steered), journal=journal)
    nothing: Any = None
    return Obeying(partition, None, *[nothing] * 8, forgets=False), journal


def result(state: str) -> OrderResult:
    return OrderResult(at=1.0, do="pause", state=state, result="paused")


def test_what_came_after_an_order_need_not_be_written():
    """In a busy crawl there is always an event that is not."""
    one, journal = obeying(a=result("done"))
    journal.sequence = 12
    assert one.answer("a") is None
    journal.sequence, journal.written = 40, 11
    assert one.answer("a") is None
    journal.sequence, journal.written = 80, 12
    answer = one.answer("a")
    assert answer is not None
    assert answer.result == "paused"
    assert one.answer("a") is None, "asked anew, it may be of another order of that name"
    journal.written = 80
    assert one.answer("a") is not None


def test_who_does_not_come_back_is_forgotten():
    names = [f"n{i}" for i in range(ASKED_MOST + 5)]
    one, journal = obeying(**dict.fromkeys(names, result("done")), later=result(BEGUN))
    journal.sequence = 99
    assert {one.answer(name) for name in names} == {None}
    assert one.answer("later") is None
    journal.written = 99
    assert one.answer(names[0]) is not None
