"""The line of a visit in the log of a run: what was requested, its outcome, and why it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evercrawl.types import Outcome

if TYPE_CHECKING:
    from evercrawl.model.stored.remembered import Remembered
    from evercrawl.store.journal.events import Visit

FAILED: Final = frozenset({Outcome.ERROR, Outcome.REFUSED, Outcome.GONE, Outcome.TRUNCATED})


def is_logged(event: Visit, *, every: bool) -> bool:
    """Return whether a visit has a line: it failed, or all visits have one."""
    return every or event.outcome in FAILED


def visit_fields(visit: Remembered) -> dict[str, Any]:
    """Return the fields of a visit's line, except its time."""
    event = visit.event
    return {
        "url": visit.reading.exchange.request.url, "outcome": Outcome(event.outcome).label, "status": event.status,
        "reason": reason(event), "fetch_s": round(event.fetch_s, 3), "size_bytes": event.size_bytes,
        "visits": event.visits,
    }  # fmt: skip


def reason(event: Visit) -> str:
    """Return why a visit failed: its error, or the status; "" if it succeeded."""
    if event.outcome not in FAILED:
        return ""
    return event.error or f"status {event.status}"
