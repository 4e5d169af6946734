"""Limits on connections: on their number, and on how long clients may keep the server waiting.

A connection that waits for its client has a deadline: for the start of the next request, for the rest of a request, or
for the client to read an answer. When the server has as many connections as it may have, a new one replaces the one
that has waited longest, of the network that has most.
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
"""Maximum number of open connections of one network; further ones are closed at once."""
FILES: Final = 300
"""File descriptors left for files, processes, and connections that are accepted before any can be closed."""
LEAST: Final = 50
"""Number of connections that the server accepts even if the limit on open files is lower."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on the connections of a server.

    Attributes
    ----------
    of_network
        Maximum number of open connections of one network (/24 or /48), or of one address of this machine.
    of_all
        Number of open connections from which a new one replaces one that waits for its client.
    idle_s
        Maximum time until the next request begins.
    request_s
        Maximum time from the first byte of a request to its last.
    unread_s
        Maximum time for which a client may read nothing while an answer waits to be sent.
    """

    of_network: int = OF_NETWORK
    of_all: int = 2000
    idle_s: float = 30.0
    request_s: float = 30.0
    unread_s: float = 30.0


def room_for(connections: int) -> int:
    """Return how many connections the limit on open files allows, at most `connections`.

    The limit of this process is first raised as far as needed and permitted.
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
    """Return uvicorn's HTTP protocol with limits on connections."""
    by_network: dict[str, dict[Any, None]] = defaultdict(dict)  # the connections of each, oldest first

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
            """Read bytes of a request; if they are invalid, the closing connection gets a deadline."""
            super().data_received(data)
            if self.transport.is_closing() and self._deadline is None:
                self._wait(limits.idle_s)

        def on_message_begin(self) -> None:
            """Set the deadline of a request that begins."""
            super().on_message_begin()
            self._asking = True
            self._wait(limits.request_s)

        def on_message_complete(self) -> None:
            """End the deadline of a request that is complete."""
            super().on_message_complete()
            self._asking = False
            answered = self.cycle.response_complete
            self._wait(limits.idle_s if answered else None)

        def on_response_complete(self) -> None:
            """Wait for the next request, and for the client to read the answer."""
            more = bool(self.pipeline)
            super().on_response_complete()
            self._unset_keepalive_if_required()  # uvicorn's timer, which any byte would stop
            if not self._asking:
                self._wait(None if more and not self.transport.is_closing() else limits.idle_s)

        def pause_writing(self) -> None:
            """Give the client time to read."""
            super().pause_writing()
            self._read_on()
            self._unread = asyncio.get_running_loop().call_later(limits.unread_s, self.drop)

        def resume_writing(self) -> None:
            """Resume writing, because the client has read."""
            super().resume_writing()
            self._read_on()

        def drop(self) -> None:
            """Close the connection at once, and discard what was not sent."""
            self._forget()
            self.transport.abort()

        def _forget(self) -> None:
            of_network = by_network.get(self.network, {})
            of_network.pop(self, None)
            if not of_network:
                by_network.pop(self.network, None)

        def _wait(self, duration_s: float | None) -> None:
            """Set the deadline, or remove it with None."""
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
