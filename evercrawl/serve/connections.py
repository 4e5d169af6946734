"""Limits on connections: on their number, and on the time that requests and unread answers take.

A connection that waits for its client has a deadline: until its next request begins, until that is complete, or until
its answer has been read. So nobody keeps a connection for nothing. Beyond the limit of all connections, those that wait
longest make room, of the network that has most.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from evercrawl.serve.strangers import network_of

OF_NETWORK: Final = 500
"""Open connections of one network; who opens more finds them closed."""
FILES: Final = 300
"""Descriptors that are left for files, processes, and connections that are accepted at once."""
LEAST: Final = 50


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of a server.

    Attributes
    ----------
    of_network
        Open connections of one network, a /24 or a /48; of one address on this machine.
    of_all
        Open connections above which waiting ones are closed for new ones.
    idle_s
        Time until the next request begins.
    request_s
        Time for a request to arrive, from its first byte.
    unread_s
        Time in which a client must read some of an answer that waits for it.
    """

    of_network: int = OF_NETWORK
    of_all: int = 2000
    idle_s: float = 30.0
    request_s: float = 30.0
    unread_s: float = 30.0


def room_for(connections: int) -> int:
    """Return how many connections there can be: as many as wanted, if the limit on open files allows it.

    The limit of this process is raised for them as far as the system permits.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
        connections = max(min(connections, soft - FILES), LEAST)
    return connections


def bounded(limits: ConnectionLimits) -> type[HttpToolsProtocol]:
    """Return the server protocol with limits on connections."""
    by_network: dict[str, dict[Any, None]] = defaultdict(dict)  # its connections, oldest first

    def make_room() -> None:
        """Close the connection that has waited longest, of the network that has most."""
        for name in sorted(by_network, key=lambda each: -len(by_network[each])):
            for connection in by_network[name]:
                if connection.waits:
                    connection.drop()
                    return

    class BoundedConnection(HttpToolsProtocol):
        """A connection that ends if its network has too many, or if its client keeps it waiting for too long."""

        network = ""
        _asking = False  # whether a request has begun, and is not complete
        _deadline: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None

        @property
        def waits(self) -> bool:
            """Whether it waits for its client: to send a request, or to read an answer."""
            return self._deadline is not None or self._unread is not None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Accept a new connection, or close it."""
            super().connection_made(transport)
            address = self.client[0] if self.client else ""
            network = network_of(address, "") or address
            if network and len(by_network[network]) >= limits.of_network:
                transport.abort()
                return
            if sum(map(len, by_network.values())) >= limits.of_all:
                make_room()
            self.network = network
            by_network[network][self] = None
            self._wait(limits.idle_s)

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget the connection."""
            super().connection_lost(exc)
            self._unset_keepalive_if_required()
            self._wait(None)
            self._read_on()
            self._forget()

        def data_received(self, data: bytes) -> None:
            """Take bytes; if they are no request, the connection must end in time."""
            super().data_received(data)
            if self.transport.is_closing() and self._deadline is None:
                self._wait(limits.idle_s)

        def on_message_begin(self) -> None:
            """Begin a request."""
            super().on_message_begin()
            self._asking = True
            self._wait(limits.request_s)

        def on_message_complete(self) -> None:
            """End a request."""
            super().on_message_complete()
            self._asking = False
            answered = self.cycle.response_complete
            self._wait(limits.idle_s if answered else None)

        def on_response_complete(self) -> None:
            """Wait for the next request, and for the client to read the answer."""
            more = bool(self.pipeline)
            super().on_response_complete()
            self._unset_keepalive_if_required()  # which any byte would stop
            if not self._asking:
                self._wait(None if more and not self.transport.is_closing() else limits.idle_s)

        def pause_writing(self) -> None:
            """Wait for the client to read."""
            super().pause_writing()
            self._read_on()
            self._unread = asyncio.get_running_loop().call_later(limits.unread_s, self.drop)

        def resume_writing(self) -> None:
            """Go on writing."""
            super().resume_writing()
            self._read_on()

        def drop(self) -> None:
            """Close the connection at once, whatever has not been read."""
            self._forget()
            self.transport.abort()

        def _forget(self) -> None:
            of_network = by_network.get(self.network, {})
            of_network.pop(self, None)
            if not of_network:
                by_network.pop(self.network, None)

        def _wait(self, duration_s: float | None) -> None:
            """Set the deadline; None for none."""
            if self._deadline is not None:
                self._deadline.cancel()
            self._deadline = None
            if duration_s is not None:
                self._deadline = asyncio.get_running_loop().call_later(duration_s, self.drop)

        def _read_on(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
                self._unread = None

    return BoundedConnection
