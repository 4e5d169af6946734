"""Updates to all connected browsers: server-sent events, at most four per second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import msgspec

from evercrawl.ask.instants import dated

LISTENERS: Final = 200
"""Streams at once; who comes later is asked to come again."""
EVERY_S: Final = 0.25
HEARTBEAT_S: Final = 15.0
_BEHIND: Final = 8  # backlog of a slow reader, in events; beyond that it is dropped, and reconnects


class Live:
    """Passes updates from the replica's thread to streams in the event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queues: set[asyncio.Queue[bytes | None]] = set()
        self._pending = False
        self._upto = -1
        self._gather: Any = None

    def begin(self, gather: Any) -> None:
        """Start in the running loop; `gather` returns the fields of an event after another, in a thread."""
        self._loop, self._gather = asyncio.get_running_loop(), gather

    def told(self, events: int) -> None:
        """Note an update; may be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._later)

    @property
    def crowded(self) -> bool:
        """Whether the maximum number of streams is reached."""
        return len(self._queues) >= LISTENERS

    async def stream(self, after: int = -1) -> AsyncIterator[bytes]:
        """Yield the events as bytes, with heartbeats when there are none.

        Parameters
        ----------
        after
            Number of journal events that an interrupted stream had received: the first event contains those since.
        """
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(_BEHIND)
        self._queues.add(queue)
        try:
            yield (await self._event(after))[0]
            while True:
                try:
                    data = await asyncio.wait_for(queue.get(), HEARTBEAT_S)
                except TimeoutError:
                    data = b": still here\n\n"
                if data is None:
                    return
                yield data
        finally:
            self._queues.discard(queue)

    def end(self) -> None:
        """End all streams."""
        for queue in list(self._queues):
            self._drop(queue)

    def _later(self) -> None:
        if not self._pending and self._loop is not None:
            self._pending = True
            self._loop.call_later(EVERY_S, lambda: asyncio.ensure_future(self._send()))

    async def _send(self) -> None:
        self._pending = False
        if not self._queues:
            return
        data, self._upto = await self._event(self._upto)
        for queue in list(self._queues):
            try:
                queue.put_nowait(data)
            except asyncio.QueueFull:
                self._drop(queue)

    def _drop(self, queue: asyncio.Queue[bytes | None]) -> None:
        while not queue.empty():
            queue.get_nowait()
        queue.put_nowait(None)
        self._queues.discard(queue)

    async def _event(self, after: int) -> tuple[bytes, int]:
        """Return an event with the visits after a sequence number, and the number it reaches."""
        fields = await asyncio.to_thread(self._gather, after)
        data = msgspec.json.encode(dated(fields))
        return b"id: %b\nevent: state\ndata: %b\n\n" % (fields["token"].encode(), data), fields["sequence"]
