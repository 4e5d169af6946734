"""Resolvers that ask the operating system, or one name server."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from evercrawl.errors import ConfigError
from evercrawl.fetch.names.base import NO_SUCH_NAME, TIME_OUT, NameAnswer, ResolveError, literal, ordered
from evercrawl.fetch.names.query_channel import QueryChannel

if TYPE_CHECKING:
    import pycares

__all__ = ["DnsResolver", "SystemResolver"]

_Answer: TypeAlias = tuple[list[str], float | None, str]  # addresses, their lifetime in s, and why there are none
CHANNEL_QUERIES: Final = 8192  # after which c-ares gets a new channel, because a channel keeps all of its answers
_GRACE_S = 0.3  # with IPv4 addresses at hand, an IPv6 answer is not worth a longer wait


class SystemResolver:
    """Asks as every program on this machine does: hosts file, local caches, name servers.

    Parameters
    ----------
    at_once
        The highest number of look-ups at a time; each has a daemon thread of its own, so that none delays an exit.
    timeout_s
        The time limit of one look-up from its start.
    """

    label = "the system's resolver"

    def __init__(self, at_once: int = 64, timeout_s: float = 10.0) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._timeout_s = timeout_s

    async def resolve(self, host: str) -> NameAnswer:
        """Return the addresses of `host`; see `Resolver`. The system does not say how long they are valid."""
        if found := literal(host):
            return NameAnswer(found)
        await self._turns.acquire()  # released by the thread, so one that hangs keeps its place
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
            with suppress(RuntimeError):  # the loop may be gone by now, with nobody waiting
                loop.call_soon_threadsafe(finish, result)

        try:
            threading.Thread(target=work, name=f"resolve {host}", daemon=True).start()
        except RuntimeError as error:  # no thread can be started
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
        return [], None, NO_SUCH_NAME  # it cannot be a name
    return [str(address[0]) for *_, address in found], None, NO_SUCH_NAME


class DnsResolver:
    """Asks one name server for A and AAAA records, and nothing else: hosts file and search domains are not used.

    It belongs to the loop that first uses it.

    Parameters
    ----------
    server
        "address" or "address:port", IPv6 in brackets before a port.
    timeout_s
        The time limit of one look-up; an unanswered query is repeated once, after a third of it.

    Raises
    ------
    ConfigError
        `server` is not an address with an optional port.
    """

    def __init__(self, server: str, timeout_s: float = 5.0) -> None:
        self._server = _server(server)
        self.label = f"the name server {self._server}"
        self._timeout_s = timeout_s
        self._channel: QueryChannel | None = None
        self._before: QueryChannel | None = None
        self._queries = 0  # of the present channel

    async def resolve(self, host: str) -> NameAnswer:
        """Return the addresses of `host`; see `Resolver`."""
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
        import pycares  # takes 20 ms, so only when it is used

        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()

        def finish(result: _Answer) -> None:
            if not answer.done():
                answer.set_result(result)

        def answered(result: pycares.DNSResult | None, code: int | None) -> None:
            finish(_read(result, code))

        if self._channel is None or self._queries >= CHANNEL_QUERIES:
            if self._before is not None:
                self._before.close()
            self._before = self._channel  # its last queries are under way
            self._channel, self._queries = QueryChannel(self._server, self._timeout_s / 3), 0
        self._queries += 1
        try:
            self._channel.query(host, record_type, answered)
        except (pycares.AresError, ValueError):
            finish(([], None, NO_SUCH_NAME))  # it cannot be a name
        return answer

    def close(self) -> None:
        """Release sockets; look-ups under way fail. To be called in the loop."""
        for channel in (self._before, self._channel):
            if channel is not None:
                channel.close()
        self._before = self._channel = None


def _read(result: pycares.DNSResult | None, code: int | None) -> _Answer:
    """Return the answer that a callback received; it may hold CNAME records beside the addresses."""
    import pycares

    if result is not None and code is None:
        ttl_s = min((float(record.ttl) for record in result.answer), default=None)
        parts = [record.data for record in result.answer]
        found = [part.addr for part in parts if isinstance(part, (pycares.ARecordData, pycares.AAAARecordData))]
        return found, ttl_s, NO_SUCH_NAME
    codes: Any = pycares.errno  # its own annotations end here
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
