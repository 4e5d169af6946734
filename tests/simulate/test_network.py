"""A network without sockets: what comes of answers that are late, cut short or wrong about their length."""

import gzip
from typing import Any

import pytest

from evercrawl.fetch.answer import unwrap
from evercrawl.simulate.surroundings.clock import Machine, VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import Delivery, MadeNetwork, NoAnswerError
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.types import Exchange, Request

BODY = b"0123456789" * 10


class One:
    """A web that says one thing."""

    def __init__(self, said) -> None:
        self.said, self.asked_at = said, []

    def answer(self, origin, path, headers, at) -> Answer:
        self.asked_at.append(at)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def ask(said: Answer | Exception, **request: Any) -> Exchange:
    """Return the exchange that comes of one request, which takes a second where the answer does not say."""

    async def once() -> Any:
        network = MadeNetwork(One(said), VirtualClock(), lambda _: 1.0)
        network.start(Request("http://a.example/x", deadline_s=30.0, **request))
        (exchange,) = await network.finished(100.0)
        assert network.log[0].answered == exchange.headers
        assert network.log[0].ended_at - network.log[0].at == exchange.elapsed_s
        return exchange

    return run_virtual(once())


def outline(exchange) -> tuple[int, bytes, str, bool, float]:
    return exchange.status, exchange.body, exchange.error, exchange.truncated, round(exchange.elapsed_s, 3)


@pytest.mark.parametrize(
    ("said", "came"),
    [
        (Answer(200, {}, BODY), (200, BODY, "", False, 1.0)),
        (Delivery(200, {}, BODY, after_s=7.0), (200, BODY, "", False, 7.0)),
        (Delivery(200, {}, BODY, arrives_bytes=5), (200, BODY[:5], "", True, 1.0)),
        (Delivery(200, {}, BODY, arrives_bytes=0), (200, b"", "reset", False, 1.0)),
        (Delivery(200, {}, BODY, after_s=99.0, arrives_bytes=5), (200, BODY[:5], "", True, 30.0)),
        (Delivery(200, {}, BODY, after_s=99.0), (0, b"", "timeout", False, 30.0)),
        (Answer(200, {"Content-Length": "7"}, BODY), (200, BODY[:7], "", False, 1.0)),
        (Answer(200, {"Content-Length": "700"}, BODY), (200, BODY, "", True, 1.0)),
        (NoAnswerError("reset"), (0, b"", "reset", False, 1.0)),
        (NoAnswerError("connect", after_s=0.01), (0, b"", "connect", False, 0.01)),
        (NoAnswerError("timeout", after_s=1e9), (0, b"", "timeout", False, 30.0)),
    ],
)
def test_how_answers_arrive(said, came):
    assert outline(ask(said)) == came


def test_what_is_too_large_is_cut():
    exchange = ask(Answer(200, {}, BODY), max_wire_bytes=30)
    assert outline(exchange) == (200, BODY[:30], "", True, 1.0)
    packed = gzip.compress(BODY, mtime=0)
    exchange = ask(Answer(200, {"Content-Encoding": "gzip"}, packed), max_body_bytes=30)
    assert (exchange.wire, exchange.body, exchange.truncated) == (packed, BODY[:30], True)


def test_codings_may_be_left_to_the_asker():
    packed = gzip.compress(BODY, mtime=0)
    exchange = ask(Answer(200, {"Content-Encoding": "gzip"}, packed), packed=True)
    assert (exchange.packed, exchange.body) == (True, b"")
    unwrap(exchange)
    assert (exchange.packed, exchange.body) == (False, BODY)


def test_the_far_end_has_its_own_time():
    async def once() -> Any:
        machine = Machine(wrong_s=-500.0)
        web = One(Answer(200))
        network = MadeNetwork(web, machine.clock(), lambda _: 1.0, true=machine.true)
        network.start(Request("http://a.example/x"))
        (exchange,) = await network.finished(100.0)
        return exchange.at - network.log[0].at, exchange.elapsed_s, web.asked_at[0] - network.log[0].at

    assert run_virtual(once()) == pytest.approx((-500.0, 1.0, 0.0), abs=1e-3)


def test_while_the_processor_works_the_network_is_not_idle_and_answers_arrive():
    async def twice() -> tuple[int, float, float]:
        clock = VirtualClock()
        network, began = MadeNetwork(One(Answer(200, {}, BODY)), clock, lambda _: 1.0), clock.now()
        network.start(Request("http://a.example/x", deadline_s=30.0))
        assert len(await network.finished(100.0)) == 1
        for path in "yz":
            network.start(Request(f"http://a.example/{path}", deadline_s=30.0))
        clock.spend(2.5)
        return len(await network.finished(100.0)), round(clock.now() - began, 3), round(network.idle_s, 3)

    assert run_virtual(twice()) == (2, 3.5, 1.0)
