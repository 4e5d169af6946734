"""The log of a run: a dated line for each message, each failed visit with its reason, and the state at intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import plain
from evercrawl.config.secrets import masked
from evercrawl.model.stored.visit_line import is_logged, visit_fields

if TYPE_CHECKING:
    from evercrawl.cli.watching.rotating import RotatingFile
    from evercrawl.model.stored.remembered import Remembered
    from evercrawl.progress import Progress, Summary

STATE_EVERY_S: Final = 60.0
_STATE: Final = (
    "elapsed_s", "known", "fetched", "visits", "changed", "queue", "in_flight", "rate_per_s", "bytes_in", "outcomes",
    "errors", "waiting", "fresh", "disk_full",
)  # fmt: skip


class RunLog:
    """Writes the log of one run.

    Parameters
    ----------
    file
        The file.
    form
        "json", an object per line, or "text".
    every
        Whether successful visits are written too.
    clock
        Tells the time, in seconds since the epoch.

    Attributes
    ----------
    every
        As above.
    """

    def __init__(self, file: RotatingFile, form: str, *, every: bool, clock: Callable[[], float]) -> None:
        self._file, self._form, self.every, self._clock = file, form, every, clock
        self._message = ""
        self._state_at = float("-inf")

    def learned(self, visit: Remembered) -> None:
        """Write a visit, if it failed or all visits are written."""
        if is_logged(visit.event, every=self.every):
            self.write("visit", visit.event.at, visit_fields(visit))

    def learned_afar(self, number: int, machine: str, at: float, fields: Mapping[str, Any]) -> None:
        """Write a visit of a partition, as the partition's process describes it."""
        self.write("visit", at, {"partition": number, "machine": machine, **fields})

    def __call__(self, progress: Progress) -> None:
        """Write a new message, and the state once a minute."""
        if progress.message and progress.message != self._message:
            self.write("message", progress.at, {"message": progress.message})
        self._message = progress.message or self._message
        if (progress.elapsed_s or progress.outcomes) and progress.at - self._state_at >= STATE_EVERY_S:
            self._state_at = progress.at
            self.write("progress", progress.at, {name: getattr(progress, name) for name in _STATE})

    def finish(self, summary: Summary | None) -> None:
        """Write the end; None if the run was cut short."""
        told = {"reason": "cut short"} if summary is None else {
            "reason": summary.reason, "visits": summary.visits, "fetched": summary.fetched, "known": summary.known,
            "elapsed_s": summary.elapsed_s,
        }  # fmt: skip
        self.write("end", self._clock(), told)

    def failed(self, error: BaseException) -> None:
        """Write that the run ended with an error."""
        self.write("error", self._clock(), {"message": f"{type(error).__name__}: {error}"})

    def write(self, event: str, at: float, fields: Mapping[str, Any]) -> None:
        """Write a line, with passwords in URLs left out."""
        text = masked(json_line(event, {"at": at, **fields}))
        self._file.write(text if self._form == "json" else _as_text(text))


def _as_text(line: str) -> str:
    fields = msgspec.json.decode(line, type=dict[str, Any])
    at, event = fields.pop("at"), fields.pop("event")
    fields.pop("at_s", None)
    pairs = (f"{name}={_value(value)}" for name, value in fields.items() if value not in ("", None, {}))
    return plain(f"{at} {event} {' '.join(pairs)}").replace("\n", " ")


def _value(value: object) -> str:
    text = value if isinstance(value, str) else _encoded(value)
    return _encoded(text) if " " in text and isinstance(value, str) else text


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()
