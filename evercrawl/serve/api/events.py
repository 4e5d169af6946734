"""What is new, as server-sent events."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from evercrawl.serve.asking import Parameters
from evercrawl.serve.context import ServerParts
from evercrawl.serve.problems import RequestError
from evercrawl.types import Outcome


async def events(request: Request) -> Response:
    """Stream the state of the crawl, at most four times a second, and the visits since the last event."""
    Parameters(request)
    parts: ServerParts = request.app.state.context
    if parts.live.crowded:
        raise RequestError(503, "too many listen already; come again later", retry_after="10")
    return StreamingResponse(parts.live.stream(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


class Gather:
    """Gathers one event: counts, and the visits since the last."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts

    def __call__(self) -> dict[str, Any]:
        """Return the fields of an event."""
        replica = self._parts.replica
        with replica.reading() as view:
            state = view.state
            return {
                "sequence": replica.sequence,
                "at": view.now,
                "running": replica.running,
                "trouble": replica.trouble,
                "known": state.known.count,
                "fetched": sum(state.outcomes[each] for each in (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE)),
                "visits": state.visits,
                "changes": state.changes,
                "received_bytes": state.wire_bytes,
                "price": view.price if view.price == view.price else None,
                "recent": [fields for _, fields in replica.recent()][-32:],
            }
