"""Limits on connections: idle ones are closed, and each address may have a limited number."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

OF_ADDRESS: Final = 500
"""Open connections of one address; who opens more finds them closed."""


def bounded(most: int = OF_ADDRESS) -> type[HttpToolsProtocol]:
    """Return the server protocol with a limit on connections per address.

    Parameters
    ----------
    most
        Maximum connections of one address.
    """
    counts = Counter[str]()

    class BoundedConnection(HttpToolsProtocol):
        """A connection closed if its address has too many, or if no request arrives in time."""

        counted = ""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Accept a new connection, or close it."""
            super().connection_made(transport)
            address = self.client[0] if self.client else ""
            if address and counts[address] >= most:
                transport.abort()
                return
            self.counted = address
            counts[address] += 1
            loop: Any = asyncio.get_running_loop()
            self.timeout_keep_alive_task = loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

        def connection_lost(self, exc: Exception | None) -> None:
            """Decrement the count."""
            super().connection_lost(exc)
            self._unset_keepalive_if_required()
            counts[self.counted] -= 1
            if counts[self.counted] <= 0:
                del counts[self.counted]

    return BoundedConnection
