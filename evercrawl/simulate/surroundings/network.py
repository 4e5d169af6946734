"""A network without sockets: responses of a simulated web, with delays, on any clock."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Protocol

from evercrawl.clock import Clock
from evercrawl.fetch.answer import settle
from evercrawl.parse.urls import origin, path_query
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.types import SILENT, Exchange, Request, Silence

CONNECT_S: Final = 10.0  # time-out of a connection attempt
_CODES: Final = {"": 0, "reset": 18, "timeout": 28}  # curl's error numbers for truncated bodies


class NoAnswerError(Exception):
    """Raised by a simulated web instead of a response.

    Attributes
    ----------
    error, detail
        The class of the failure, and a message.
    after_s
        Time until it fails; None for the network's latency.
    """

    def __init__(self, error: str, detail: str = "it was made so", after_s: float | None = None) -> None:
        super().__init__(error, detail)
        self.error, self.detail, self.after_s = error, detail, after_s


@dataclass(frozen=True, slots=True)
class Delivery(Answer):
    """A response with its own timing, possibly incomplete.

    A `Content-Length` among its headers is sent as given, even if false.

    Attributes
    ----------
    after_s
        Duration of the exchange; None for the network's latency.
    arrives_bytes
        Bytes of the body received before the connection is reset; None for all of it.
    """

    after_s: float | None = None
    arrives_bytes: int | None = None


class AnsweringWeb(Protocol):
    """Anything that responds to page requests; see `MadeWeb.answer`."""

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return the response of `origin` to a GET of `path`, or raise `NoAnswerError`."""
        ...


@dataclass(slots=True)
class Asked:
    """One request, as the server saw it; in progress, `ended_at` is infinite and `status` 0.

    Attributes
    ----------
    at, ended_at
        Seconds since the epoch.
    url, headers, address
        The URL, the request headers (names in lower case), and the address.
    status, answered
        The response's status and headers (names in lower case); 0 and none without a response.
    head
        Whether it was a HEAD request.
    beside
        The second address tried, "" for none.
    """

    at: float
    url: str
    headers: dict[str, str]
    address: str
    ended_at: float = float("inf")
    status: int = 0
    answered: dict[str, str] = field(default_factory=dict[str, str])
    head: bool = False
    beside: str = ""


class MadeNetwork:
    """Answers requests from a simulated web, each after the latency drawn by `latency_s`.

    Parameters
    ----------
    web
        The web, queried at the instant a request starts.
    clock
        The clock for the times of exchanges.
    latency_s
        Request -> duration of its exchange; beyond its deadline it fails with "timeout".
    watch
        Called with every request as it starts.
    judge
        As in the real network: address -> "" or why it must not be connected to.
    true
        The servers' clock, for the web's responses and the log; by default the crawl's.
    vacant
        Address -> why connections to it fail ("connect", "timeout"), "" if they succeed.

    Attributes
    ----------
    log
        Every request so far, in order.
    """

    def __init__(
        self,
        web: AnsweringWeb,
        clock: Clock,
        latency_s: Callable[[Request], float] = lambda _: 0.1,
        watch: Callable[[Asked], None] = lambda _: None,
        judge: Callable[[str], str] = lambda _: "",
        true: Callable[[], float] | None = None,
        vacant: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._true, self._vacant = true or clock.now, vacant
        self.log: list[Asked] = []
        self._web, self._clock, self._latency_s, self._watch, self._judge = web, clock, latency_s, watch, judge
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._busy: dict[int, tuple[Asked, Exchange]] = {}
        self._ended: list[Exchange] = []
        self._news = asyncio.Event()
        self._waited_s = 0.0

    @property
    def idle_s(self) -> float:
        """Total time `finished` has waited: on a virtual clock nothing else takes time by itself."""
        return self._waited_s

    @property
    def in_flight(self) -> int:
        """Number of exchanges in progress."""
        return len(self._timers)

    def start(self, request: Request, addresses: Sequence[str] = (), *, beside: str = "") -> None:
        """Begin an exchange with the first of `addresses`, if allowed; with `beside`, if that does not connect."""
        exchange = Exchange(request, self._clock.now())
        if addresses and (reason := self._judge(addresses[0])):
            exchange.error, exchange.detail = "refused_address", reason
            self._ended.append(exchange)
            self.wake()
            return
        exchange.ip, other = addresses[0] if addresses else "", beside
        if beside and self._vacant(exchange.ip) and not self._vacant(beside):
            exchange.ip, other = beside, exchange.ip
        headers = {name.lower(): value for name, value in request.headers}
        asked = Asked(self._true(), request.url, headers, exchange.ip, head=request.head, beside=other)
        self.log.append(asked)
        self._watch(asked)
        lasts_s = self._carry_out(exchange, headers, asked.at)
        number = len(self.log)
        self._busy[number] = asked, exchange
        self._timers[number] = asyncio.get_running_loop().call_later(lasts_s, self._end, number, asked, exchange)

    def _carry_out(self, exchange: Exchange, headers: dict[str, str], at: float) -> float:
        """Fill in the final result of the exchange, and return its duration in seconds."""
        request = exchange.request
        lasts_s = self._latency_s(request)
        try:
            if lasts_s >= request.deadline_s:
                raise NoAnswerError("timeout")
            if exchange.ip and (why := self._vacant(exchange.ip)):
                raise NoAnswerError(why, after_s=CONNECT_S if why == "timeout" else None)
            answer = self._web.answer(
                origin(request.url), path_query(request.url), headers | {"accept-encoding": "gzip"}, at
            )
            if isinstance(answer, Delivery) and answer.after_s is not None:
                lasts_s = answer.after_s
            late = lasts_s >= request.deadline_s
            if late and not (isinstance(answer, Delivery) and answer.arrives_bytes):
                raise NoAnswerError("timeout")
            _fill(exchange, answer, late=late)
            if request.head:
                exchange.wire = exchange.body = b""
        except NoAnswerError as fault:
            exchange.error, exchange.detail = fault.error, fault.detail
            lasts_s = lasts_s if fault.after_s is None else fault.after_s
        return min(lasts_s, request.deadline_s)

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return the exchanges that have ended, waiting up to `timeout_s` for the first."""
        if not self._ended:
            loop = asyncio.get_running_loop()
            began, alarm = loop.time(), loop.call_later(timeout_s, self.wake)
            try:
                await self._news.wait()
            finally:
                alarm.cancel()
                self._waited_s += loop.time() - began
        self._news.clear()
        ended, self._ended = self._ended, []
        return ended

    def silent(self, over_s: float) -> list[Silence]:
        """Return the exchanges in progress for longer than `over_s`: here all data arrives at the end."""
        until = self._clock.now() - over_s
        return [
            Silence(exchange.request, exchange.ip, exchange.at)
            for _, exchange in self._busy.values()
            if exchange.at < until
        ]

    def hang_up(self, silences: Sequence[Silence]) -> None:
        """End these exchanges."""
        requests = {id(silence.request) for silence in silences}
        for number, (asked, exchange) in list(self._busy.items()):
            if id(exchange.request) in requests:
                self._timers[number].cancel()
                cut = Exchange(exchange.request, exchange.at, ip=exchange.ip, error=SILENT, detail="we hung up")
                self._end(number, asked, cut)

    def wake(self) -> None:
        """Make a waiting `finished` return now."""
        self._news.set()

    async def close(self) -> None:
        """Abandon exchanges in progress."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._busy.clear()

    def _end(self, number: int, asked: Asked, exchange: Exchange) -> None:
        del self._timers[number], self._busy[number]
        asked.ended_at, asked.status, asked.answered = self._true(), exchange.status, exchange.headers
        exchange.elapsed_s = self._clock.now() - exchange.at
        self._ended.append(exchange)
        self.wake()


async def inline(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the function's result: an offload for tests, where blocking is acceptable."""
    return function(*arguments)


def _fill(exchange: Exchange, answer: Answer, *, late: bool) -> None:
    """Fill in the exchange as a real network would, where a slow response may be incomplete."""
    request = exchange.request
    headers = answer.headers if answer.status == HTTPStatus.NOT_MODIFIED else _sized(answer)
    status_line = f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"
    lines = [f"{line}\r\n".encode("latin-1") for line in (status_line, *(f"{k}: {v}" for k, v in headers.items()), "")]
    wire, ends = _arriving(answer, headers, late=late)
    if len(wire) > request.max_wire_bytes:
        exchange.truncated, wire, ends = True, wire[: request.max_wire_bytes], ""
    exchange.sent = f"{request.method} {path_query(request.url)} HTTP/1.1\r\n\r\n".encode()
    exchange.wire = wire
    settle(exchange, lines, _CODES[ends], "it was made so" if ends else "")


def _arriving(answer: Answer, headers: dict[str, str], *, late: bool) -> tuple[bytes, str]:
    """Return the part of the body that arrives, and how it ends: "" as announced, "reset" or "timeout" before."""
    arrives = answer.arrives_bytes if isinstance(answer, Delivery) else None
    if late:
        return answer.body[: arrives or 0], "timeout"
    if arrives is not None and arrives < len(answer.body):
        return answer.body[:arrives], "reset"
    announced = int(headers.get("Content-Length", len(answer.body)))
    return answer.body[:announced], "" if announced <= len(answer.body) else "reset"


def _sized(answer: Answer) -> dict[str, str]:
    return {"Content-Length": str(len(answer.body))} | answer.headers
