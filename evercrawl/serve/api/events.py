"""Updates as server-sent events."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from evercrawl.ask.status import expectations
from evercrawl.serve.asking import Parameters
from evercrawl.serve.context import ServerParts
from evercrawl.serve.problems import RequestError
from evercrawl.serve.sequences import sequence_of
from evercrawl.types import Outcome

SHOWN: Final = 32
"""Visits of an event."""


async def events(request: Request) -> Response:
    """Stream the state of the crawl, at most four times a second, and the visits since the last event."""
    Parameters(request)
    parts: ServerParts = request.app.state.context
    if parts.live.crowded:
        raise RequestError(
            503, "too many clients listen already; try again later", retry_after="10", connection="close"
        )
    last, after = request.headers.get("last-event-id", ""), -1
    if last:
        with contextlib.suppress(RequestError):  # of another crawl: start over
            after = sequence_of(last, parts.replica.crawl)
    return StreamingResponse(
        parts.live.stream(after), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
    )


class Gather:
    """Gathers the data of one event: counts, and the visits since the last one."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts

    def __call__(self, after: int = -1) -> dict[str, Any]:
        """Return the fields of an event, with the visits after the first `after` events of the journal."""
        replica = self._parts.replica
        since = replica.recent(max(after - 1, -1))
        fresh = replica.slowly("expected", lambda view: expectations(view)[1].fresh)
        with replica.reading() as view:
            state = view.state
            return {
                "sequence": max([replica.sequence, *(number + 1 for number, _ in since[-1:])]),
                "token": replica.token,
                "at": view.now,
                "running": replica.running,
                "trouble": replica.trouble,
                "known": state.known.count,
                "paused_at": state.steered.paused_at or None,
                "behind_s": round(replica.lag_s, 3),
                "fresh_by_importance": fresh,
                "fetched": sum(state.outcomes[each] for each in (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE)),
                "visited": state.records.count,
                "visits": state.visits,
                "changes": state.changes,
                "received_bytes": state.wire_bytes,
                "price": view.price if view.price == view.price else None,
                "recent": [fields for _, fields in since[-SHOWN:]],
                "left_out": max(len(since) - SHOWN, 0) if after >= 0 else 0,
            }
