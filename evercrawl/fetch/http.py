"""HTTP exchanges through libcurl, many at a time, without a task or a future for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evercrawl.errors import ConfigError
from evercrawl.fetch.asking import ACCEPT, ACCEPT_ENCODING, Asker, Asking
from evercrawl.fetch.curl_loop import CurlLoop, Ended
from evercrawl.fetch.eyeballs import AddressAliases
from evercrawl.fetch.http3 import NO_HTTP3, Http3Offers, speaks_http3
from evercrawl.fetch.names.base import literal
from evercrawl.fetch.proxies import WANTS_LOGIN, Proxies
from evercrawl.fetch.signing import RequestSigner
from evercrawl.fetch.transfer import ClientCertificate, CurlTransfer, HeldBytes, Settings
from evercrawl.fetch.trust import trusted_certificates
from evercrawl.types import SILENT, Exchange, Request, Silence

if TYPE_CHECKING:
    import pycurl

    from evercrawl.clock import Clock

__all__ = ["CurlNetwork"]

DISTRUST_S = 3600.0
MAX_DISTRUSTED = 10_000
MAX_HELD_BYTES = 256 << 20
HAPPY_EYEBALLS_S = 0.25
_TIMED_OUT = 28  # curl's number for a time-out


class CurlNetwork:
    """The `Network` of the real web: `start` begins an exchange, `finished` returns those that have ended.

    Redirects are returned as answers, cookies are neither kept nor sent, and proxies named in the environment are
    ignored.

    Parameters
    ----------
    clock
        Dates the exchanges.
    judge
        Address as text -> "" or the reason why it must not be connected to. Called for every connection, after the
        look-up, so that a name which later leads to a private address is caught too. Proxies make their connections
        themselves; unless they also look names up, `judge` is called for the address that they are to connect to.
    agent, contact
        The User-Agent, and an address for people who ask about it.
    proxies
        The proxies for the exchanges; None or an empty one for direct connections.
    verify_tls
        Whether a certificate that does not verify ends an exchange (error "tls"); if not, the exchange is repeated
        unverified, and `tls_ok` is False.
    ca_file
        Certificates to trust, "" for the system's.
    max_connections, kept_idle
        The highest number of open connections, including idle ones; and how many more may be idle if no more
        exchanges are begun than there are connections.
    http2, http3
        Whether HTTP/2 is offered over TLS; whether HTTP/3 is tried if a server has offered it (Alt-Svc).
    max_held_bytes
        The limit on the total size of bodies under way; beyond it, the large ones are cut.
    certificate
        Host -> its client certificate, if any.
    signer
        Signs requests; None for unsigned requests.
    happy_eyeballs_s
        The time after which a second address is tried beside the one that does not answer, s.

    Raises
    ------
    ConfigError
        `agent` or `contact` is not valid in a header, or HTTP/3 is asked for and libcurl does not support it.
    """

    def __init__(
        self,
        clock: Clock,
        judge: Callable[[str], str],
        *,
        agent: str,
        contact: str = "",
        proxies: Proxies | None = None,
        verify_tls: bool = True,
        ca_file: str = "",
        max_connections: int = 256,
        kept_idle: int = 0,
        http2: bool = True,
        http3: bool = False,
        max_held_bytes: int = MAX_HELD_BYTES,
        certificate: Callable[[str], ClientCertificate | None] | None = None,
        signer: RequestSigner | None = None,
        happy_eyeballs_s: float = HAPPY_EYEBALLS_S,
    ) -> None:
        if http3 and not speaks_http3():
            raise ConfigError(NO_HTTP3)
        user_agent = f"{agent} (+{contact})" if contact else agent
        self._asker = Asker([("User-Agent", user_agent), ("Accept", ACCEPT), ("Accept-Encoding", ACCEPT_ENCODING)])
        self._clock, self._signer = clock, signer
        self._http3 = Http3Offers() if http3 else None
        self._judge = judge
        self._verify_tls = verify_tls
        self._held = HeldBytes(max_held_bytes, max_connections)
        trusted = ca_file or trusted_certificates()
        self._proxies = proxies or Proxies(())
        judged = None if self._proxies else judge
        named = bool(self._proxies) and self._proxies.looks_up
        self._settings = Settings(
            judged, named, trusted, http2, self._held, certificate, AddressAliases(), happy_eyeballs_s
        )
        self._curls = CurlLoop(self._end, max_connections=max_connections, kept_idle=kept_idle)
        self._idle: list[CurlTransfer] = []
        self._busy: dict[pycurl.Curl, CurlTransfer] = {}
        self._ended: list[Exchange] = []
        self._waiter: asyncio.Future[None] | None = None
        self._fault: Exception | None = None
        self._distrusted_until: dict[str, float] = {}
        self._waited_s = 0.0

    @property
    def idle_s(self) -> float:
        """The total time for which `finished` has waited with nothing to do."""
        return self._waited_s

    @property
    def in_flight(self) -> int:
        """The number of exchanges that have started and not ended."""
        return len(self._busy)

    def start(self, request: Request, addresses: Sequence[str] = (), *, beside: str = "") -> None:
        """Begin an exchange; no fault of the web or of the URL raises.

        Parameters
        ----------
        request
            The request.
        addresses
            The addresses of the URL's host; the first is connected to, and `beside`. More addresses mean that the
            caller will try these next, so the first has less time to answer. () for a literal address, or to let curl
            look the name up.
        beside
            An address of the other family that is tried too; "" for none. curl begins with the IPv6 address, and
            tries the other once that has failed, or has not answered for a while; the first to answer is used.
            Proxies are asked only for the first of `addresses`.
        """
        exchange = Exchange(request, self._clock.now())
        try:
            asking = self._asker.ask(request.url, request.headers)
        except ValueError as fault:
            return self._fail(exchange, "protocol", str(fault))
        if self._signer is not None:
            signed = self._signer.fields(asking.authority)
            asking.fields.extend(f"{name}: {value}".encode("ascii") for name, value in signed)
        proxy = self._proxies.of(asking.host, exchange.at)
        if proxy and (reason := self._judge_proxied(asking, addresses)):
            return self._fail(exchange, "refused_address", reason)
        transfer = self._idle.pop() if self._idle else CurlTransfer(self._settings)
        offers = self._http3 if not proxy else None
        http3 = offers is not None and offers.offers(asking.scheme, asking.authority, exchange.at)
        untried = http3 and offers is not None and offers.untried(asking.authority)
        transfer.begin(exchange, asking, addresses, proxy, beside=beside, http3=http3, only=not untried)
        if untried:
            transfer.again(request.deadline_s, fresh=True)
        if not self._verify_tls and self._distrusts(asking, exchange.at):
            transfer.again(request.deadline_s, unverified=True)
        self._busy[transfer.curl] = transfer
        self._curls.add(transfer.curl, transfer.heard)
        return None

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return the exchanges that have ended since the last call, waiting up to `timeout_s` seconds for the first.

        Raises
        ------
        Exception
            An exception of `judge` or of reading an answer since the last call; the exchanges stay for the next call.
        """
        if not self._ended:
            await self._wait(timeout_s)
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        ended, self._ended = self._ended, []
        self._held.size_bytes -= sum(len(exchange.wire) for exchange in ended)
        return ended

    def silent(self, over_s: float) -> list[Silence]:
        """Return the exchanges under way that have received next to nothing for longer than `over_s`."""
        now = self._clock.now()
        found = ((transfer, transfer.silent_since(now)) for transfer in self._busy.values())
        return [Silence(one.exchange.request, one.address, since) for one, since in found if since < now - over_s]

    def hang_up(self, silences: Sequence[Silence]) -> None:
        """End these exchanges, and close their connections."""
        requests, now = {id(silence.request) for silence in silences}, self._clock.now()
        for curl, transfer in list(self._busy.items()):
            if id(transfer.exchange.request) in requests:
                self._curls.remove(curl)
                del self._busy[curl]
                exchange = self._settled(transfer, _TIMED_OUT, "", now)
                exchange.error, exchange.detail = SILENT, "next to nothing arrived while too many were silent"
                self._held.size_bytes += len(exchange.wire)
                self._ended.append(exchange)
                self._put_back(transfer)
        if self._ended:
            self.wake()

    async def close(self) -> None:
        """Abort what is in flight and close all connections; aborted exchanges are not returned."""
        for transfer in self._busy.values():
            self._curls.remove(transfer.curl)
        for transfer in (*self._busy.values(), *self._idle):
            transfer.curl.close()
        self._busy.clear()
        self._idle.clear()
        self._curls.close()
        self.wake()

    async def _wait(self, timeout_s: float) -> None:
        assert self._waiter is None, "one waiter at a time"
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        alarm = loop.call_later(timeout_s, self.wake)
        began, worked_s = loop.time(), self._curls.worked_s
        try:
            await self._waiter
        finally:
            alarm.cancel()
            self._waiter = None
            self._waited_s += loop.time() - began - (self._curls.worked_s - worked_s)

    def wake(self) -> None:
        """Make a waiting `finished` return now."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, exchange: Exchange, error: str, detail: str) -> None:
        exchange.error, exchange.detail = error, detail
        self._ended.append(exchange)
        self.wake()

    def _end(self, ended: list[Ended]) -> None:
        """Settle the transfers that have ended; called once for all that ended together."""
        now = self._clock.now()
        for curl, code, words in ended:
            transfer = self._busy[curl]
            if self._tries_again(transfer, code, words, now):
                self._curls.add(curl, transfer.heard)
                continue
            del self._busy[curl]
            exchange = self._settled(transfer, code, words, now)
            if self._http3 is not None and transfer.asking.scheme == "https":
                self._http3.learn(transfer.asking.authority, exchange, now, asked=transfer.offers_3)
            self._held.size_bytes += len(exchange.wire)
            self._ended.append(exchange)
            self._fault, transfer.fault = transfer.fault or self._fault, None
            self._put_back(transfer)
        if self._ended:
            self.wake()

    def _put_back(self, transfer: CurlTransfer) -> None:
        """Keep a handle for other exchanges, unless it has a client certificate."""
        if transfer.identified:
            transfer.curl.close()
        else:
            self._idle.append(transfer)

    @staticmethod
    def _settled(transfer: CurlTransfer, code: int, words: str, now: float) -> Exchange:
        """Return the exchange of a transfer. A fault of ours is kept for `finished` to raise, not lost in the loop."""
        try:
            return transfer.end(code, words, now)
        except Exception as fault:
            transfer.fault = fault
            transfer.exchange.error, transfer.exchange.detail = "protocol", f"the answer could not be read: {fault!r}"
            return transfer.exchange

    def _tries_again(self, transfer: CurlTransfer, code: int, words: str, now: float) -> bool:
        """Set the transfer up for another try, if that may help and there is time."""
        left_s = transfer.exchange.at + transfer.exchange.request.deadline_s - now
        if transfer.proxy and self._other_proxy(transfer, code, words, now) and left_s > 0:
            transfer.again(left_s, unverified=transfer.unverified)
            return True
        if left_s <= 0 or not code:
            return False
        if self._http3 is not None and transfer.older():
            self._http3.failed(transfer.asking.authority, now)
            transfer.again(left_s, unverified=transfer.unverified)
            return True
        if transfer.stale(code):
            transfer.again(left_s, unverified=transfer.unverified, fresh=True)
        elif transfer.distrusted(code) and not self._verify_tls:
            self._distrust(transfer.asking, now)
            transfer.again(left_s, unverified=True)
        else:
            return False
        return True

    def _other_proxy(self, transfer: CurlTransfer, code: int, words: str, now: float) -> bool:
        """Record what a proxy did; if it is at fault, send the transfer through another one, if any."""
        why = transfer.proxy_fault(code, words)
        if why == WANTS_LOGIN and transfer.asking.scheme == "http":
            if not self._proxies.denied(transfer.proxy, transfer.asking.host):
                return False
        elif not why:
            self._proxies.answered(transfer.proxy)
            return False
        self._proxies.failed(transfer.proxy, now, why)
        transfer.proxies_tried.append(transfer.proxy)
        other = self._proxies.of(transfer.asking.host, now, transfer.proxies_tried)
        if other:
            transfer.through(other)
        return bool(other)

    def _distrust(self, asking: Asking, now: float) -> None:
        if len(self._distrusted_until) >= MAX_DISTRUSTED:
            self._distrusted_until.clear()
        self._distrusted_until[asking.authority] = now + DISTRUST_S

    def _distrusts(self, asking: Asking, now: float) -> bool:
        """Whether the host's certificate failed recently: another verified try would only cost a handshake."""
        return asking.scheme == "https" and self._distrusted_until.get(asking.authority, 0.0) > now

    def _judge_proxied(self, asking: Asking, addresses: Sequence[str]) -> str:
        """Return why a proxy must not be asked for something; "" if it may be."""
        found = (*addresses[:1], asking.host)
        return next((why for one in found for each in literal(one) if (why := self._judge(each))), "")
