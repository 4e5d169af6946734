"""A network without sockets: what a made-up web answers, after a while, on whatever clock there is."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from evercrawl.parse.urls import origin, path_query
from evercrawl.types import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evercrawl.clock import Clock
    from evercrawl.simulate.made_web import Answer
    from evercrawl.types import Request


class NoAnswerError(Exception):
    """A made-up web raises it instead of answering: the class of the failure, and a sentence."""

    def __init__(self, error: str, detail: str = "it was made so") -> None:
        super().__init__(error, detail)
        self.error, self.detail = error, detail


class Web(Protocol):
    """Whatever can be asked for a page; see `MadeWeb.answer`."""

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return what `origin` answers to a GET of `path`, or raise `NoAnswerError`."""
        ...


@dataclass(slots=True)
class Asked:
    """One request, as the far end saw it; `ended_at` is infinite and `status` 0 while it is under way.

    Attributes
    ----------
    at, ended_at
        Seconds since the epoch.
    url, headers, address
        What was asked for, by which request headers (names in lower case), at which address.
    status
        Of the answer; 0 also where there was none.
    """

    at: float
    url: str
    headers: dict[str, str]
    address: str
    ended_at: float = float("inf")
    status: int = 0


class MadeNetwork:
    """Answers requests from a made-up web, each after the time that `latency_s` draws for it.

    Parameters
    ----------
    web
        Asked at the instant at which a request starts.
    clock
        Dates the exchanges.
    latency_s
        Request -> how long its exchange lasts; one that outlasts its deadline fails with "timeout".
    watch
        Told of every request as it starts.
    judge
        As the real network's: address -> "" or why it must not be connected to.

    Attributes
    ----------
    log
        Every request so far, in order.
    """

    def __init__(
        self,
        web: Web,
        clock: Clock,
        latency_s: Callable[[Request], float] = lambda _: 0.1,
        watch: Callable[[Asked], None] = lambda _: None,
        judge: Callable[[str], str] = lambda _: "",
    ) -> None:
        self.log: list[Asked] = []
        self._web, self._clock, self._latency_s, self._watch, self._judge = web, clock, latency_s, watch, judge
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._ended: list[Exchange] = []
        self._news = asyncio.Event()

    @property
    def in_flight(self) -> int:
        """Exchanges under way."""
        return len(self._timers)

    def start(self, request: Request, addresses: Sequence[str] = ()) -> None:
        """Begin an exchange with the first of `addresses` that may be connected to."""
        exchange = Exchange(request, self._clock.now())
        reasons = [self._judge(address) for address in addresses]
        if reasons and all(reasons):
            exchange.error, exchange.detail = "refused_address", reasons[0]
            self._ended.append(exchange)
            self.wake()
            return
        exchange.ip = next((a for a, reason in zip(addresses, reasons, strict=True) if not reason), "")
        headers = {name.lower(): value for name, value in request.headers}
        asked = Asked(exchange.at, request.url, headers, exchange.ip)
        self.log.append(asked)
        self._watch(asked)
        lasts_s = self._latency_s(request)
        try:
            if lasts_s >= request.deadline_s:
                raise NoAnswerError("timeout")
            answer = self._web.answer(
                origin(request.url), path_query(request.url), headers | {"accept-encoding": "gzip"}, exchange.at
            )
            _fill(exchange, answer)
        except NoAnswerError as fault:
            exchange.error, exchange.detail = fault.error, fault.detail
        lasts_s = min(lasts_s, request.deadline_s)
        number = len(self.log)
        self._timers[number] = asyncio.get_running_loop().call_later(lasts_s, self._end, number, asked, exchange)

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return the exchanges that have ended, after waiting for one of them for up to `timeout_s`."""
        if not self._ended:
            alarm = asyncio.get_running_loop().call_later(timeout_s, self.wake)
            try:
                await self._news.wait()
            finally:
                alarm.cancel()
        self._news.clear()
        ended, self._ended = self._ended, []
        return ended

    def wake(self) -> None:
        """Make the `finished` that waits return now."""
        self._news.set()

    async def close(self) -> None:
        """Abandon what is under way."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _end(self, number: int, asked: Asked, exchange: Exchange) -> None:
        del self._timers[number]
        asked.ended_at, asked.status = self._clock.now(), exchange.status
        exchange.elapsed_s = asked.ended_at - exchange.at
        self._ended.append(exchange)
        self.wake()


async def inline(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the function returns: the place for slow work where nobody minds waiting."""
    return function(*arguments)


def _fill(exchange: Exchange, answer: Answer) -> None:
    """Make the exchange what a real network makes of such an answer."""
    headers = answer.headers if answer.status == HTTPStatus.NOT_MODIFIED else _sized(answer)
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}", *(f"{k}: {v}" for k, v in headers.items())]
    exchange.status = answer.status
    exchange.sent = f"GET {path_query(exchange.request.url)} HTTP/1.1\r\n\r\n".encode()
    exchange.head = "\r\n".join([*lines, "\r\n"]).encode("latin-1")
    exchange.headers = {name.lower(): value for name, value in headers.items()}
    wire = answer.body[: exchange.request.max_wire_bytes]
    whole = gzip.decompress(answer.body) if exchange.headers.get("content-encoding") == "gzip" else wire
    exchange.wire, exchange.body = wire, whole[: exchange.request.max_body_bytes]
    if len(wire) < len(answer.body) or len(exchange.body) < len(whole):
        exchange.truncated, exchange.error, exchange.detail = True, "too_large", "it is larger than is read"


def _sized(answer: Answer) -> dict[str, str]:
    return answer.headers | {"Content-Length": str(len(answer.body))}
