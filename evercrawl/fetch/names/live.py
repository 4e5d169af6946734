"""Resolvers that ask: the operating system, or one name server."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from evercrawl.errors import ConfigError
from evercrawl.fetch.names.base import NO_SUCH_NAME, TIME_OUT, NameAnswer, ResolveError, literal, ordered

if TYPE_CHECKING:
    import pycares

__all__ = ["DnsResolver", "SystemResolver"]

_Answer: TypeAlias = tuple[list[str], float | None, str]  # addresses, how long they hold, and why there are none
_RENEWED: Final = 8192  # queries after which c-ares gets a new channel, for it keeps all answers that the old one had
_GRACE_S = 0.3  # with IPv4 addresses in hand, an answer about IPv6 is not worth waiting longer for


class SystemResolver:
    """Asks as every program on this machine does: hosts file, local caches, name servers.

    Parameters
    ----------
    at_once
        Look-ups that may run at the same time; each is a thread of its own, a daemon, so that none delays an exit.
    timeout_s
        Bound on one look-up, from when it starts.
    """

    label = "the system's resolver"

    def __init__(self, at_once: int = 64, timeout_s: float = 10.0) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._timeout_s = timeout_s

    async def resolve(self, host: str) -> NameAnswer:
        """Return where `host` leads; see `Resolver`. How long that holds the system does not say."""
        if found := literal(host):
            return NameAnswer(found)
        await self._turns.acquire()  # given back by the thread: one that hangs still takes its place
        try:
            async with asyncio.timeout(self._timeout_s):
                addresses, _, reason = await self._start(host)
        except TimeoutError:
            raise ResolveError(TIME_OUT) from None
        if not addresses:
            raise ResolveError(reason)
        return NameAnswer(ordered(addresses))

    def _start(self, host: str) -> asyncio.Future[_Answer]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Answer] = loop.create_future()

        def finish(result: _Answer) -> None:
            self._turns.release()
            if not answer.done():
                answer.set_result(result)

        def work() -> None:
            result = _ask_system(host)
            with suppress(RuntimeError):  # the loop may be gone by now, and nobody waits
                loop.call_soon_threadsafe(finish, result)

        try:
            threading.Thread(target=work, name=f"resolve {host}", daemon=True).start()
        except RuntimeError as error:  # the machine has no thread left
            finish(([], None, f"the look-up could not start: {error}"))
        return answer


def _ask_system(host: str) -> _Answer:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
            return [], None, NO_SUCH_NAME
        return [], None, f"the system's resolver failed: {error.strerror}"
    except (OSError, UnicodeError):
        return [], None, NO_SUCH_NAME  # it cannot be one
    return [str(address[0]) for *_, address in found], None, NO_SUCH_NAME


class DnsResolver:
    """Asks one name server for A and AAAA records, and nobody else: neither hosts file nor search domains count.

    It belongs to the loop that first uses it.

    Parameters
    ----------
    server
        "address" or "address:port", IPv6 in brackets before a port.
    timeout_s
        Bound on one look-up; a query without answer is repeated once, after a third of it.

    Raises
    ------
    ConfigError
        When `server` is not an address and a port.
    """

    def __init__(self, server: str, timeout_s: float = 5.0) -> None:
        self._server = _server(server)
        self.label = f"the name server {self._server}"
        self._timeout_s = timeout_s
        self._channel: pycares.Channel | None = None
        self._before: pycares.Channel | None = None
        self._queries = 0  # of the channel

    async def resolve(self, host: str) -> NameAnswer:
        """Return where `host` leads; see `Resolver`."""
        if found := literal(host):
            return NameAnswer(found)
        wide, narrow = self._ask(host, 28), self._ask(host, 1)  # AAAA, A
        try:
            async with asyncio.timeout(self._timeout_s):
                addresses, ttl_s, reason = await narrow
                if addresses:
                    with suppress(TimeoutError):
                        more, more_s, _ = await asyncio.wait_for(wide, _GRACE_S)
                        addresses, ttl_s = addresses + more, min(t for t in (ttl_s, more_s) if t is not None)
                else:
                    addresses, ttl_s, other_reason = await wide
                    reason = other_reason if reason == NO_SUCH_NAME else reason
        except TimeoutError:
            raise ResolveError(TIME_OUT) from None
        if not addresses:
            raise ResolveError(reason)
        return NameAnswer(ordered(addresses), ttl_s)

    def _ask(self, host: str, record_type: int) -> asyncio.Future[_Answer]:
        """Return a future of the records of one type; it holds a reason rather than an exception."""
        import pycares  # 20 ms that only its users pay

        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Answer] = loop.create_future()

        def finish(result: _Answer) -> None:
            if not answer.done():
                answer.set_result(result)

        def called(result: pycares.DNSResult | None, code: int | None) -> None:  # on a thread of c-ares
            with suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(finish, _read(result, code))

        if self._channel is None or self._queries >= _RENEWED:
            self._before, self._channel = self._channel, self._new_channel()  # whose last queries are under way
            self._queries = 0
        self._queries += 1
        try:
            self._channel.query(host, record_type, callback=called)
        except (pycares.AresError, ValueError):
            finish(([], None, NO_SUCH_NAME))  # it cannot be one
        return answer

    def _new_channel(self) -> pycares.Channel:
        import pycares

        return pycares.Channel(servers=[self._server], timeout=self._timeout_s / 3, tries=2)

    def close(self) -> None:
        """Give sockets and threads back; look-ups under way fail."""
        for channel in (self._before, self._channel):
            if channel is not None:
                channel.close()
        self._before = self._channel = None


def _read(result: pycares.DNSResult | None, code: int | None) -> _Answer:
    """Return what a callback was told; an answer may hold CNAME records beside the addresses."""
    import pycares

    if result is not None and code is None:
        ttl_s = min((float(record.ttl) for record in result.answer), default=None)
        parts = [record.data for record in result.answer]
        found = [part.addr for part in parts if isinstance(part, (pycares.ARecordData, pycares.AAAARecordData))]
        return found, ttl_s, NO_SUCH_NAME
    codes: Any = pycares.errno  # its own annotations stop here
    name = codes.errorcode.get(code, "no answer")
    if name in ("ARES_ENOTFOUND", "ARES_ENODATA", "ARES_EBADNAME"):
        return [], None, NO_SUCH_NAME
    return [], None, TIME_OUT if name == "ARES_ETIMEOUT" else f"the name server failed ({name})"


def _server(text: str) -> str:
    """Return "address:port" in the form that c-ares reads."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]") or (":" in host and not host.startswith("[")):
        host, port = text, "53"
    bare = host[1:-1] if host[:1] == "[" and host[-1:] == "]" else host
    try:
        address = ipaddress.ip_address(bare)
        if not 0 < int(port) < 65_536:
            raise ValueError
    except ValueError:
        raise ConfigError(
            f"{text!r} is not a name server: write its address and port, such as 127.0.0.1:53 or [::1]:53"
        ) from None
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"
