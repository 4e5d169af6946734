"""The state of a running crawl as lines of text or JSON."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from evercrawl.cli.show.advice import advice
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit, many

if TYPE_CHECKING:
    from evercrawl.progress import Progress, Summary

DAY_S = 86_400.0
LINE_EVERY_S = 10.0
JSON_EVERY_S = 1.0


class Watcher:
    """A watch that shows nothing; the base class of the others.

    The crawl calls it with each `Progress`, and `finish` once at its end.
    """

    def __call__(self, progress: Progress) -> None:
        """Show a state of the crawl."""

    def finish(self, summary: Summary | None) -> None:
        """Show the summary of the run; None if the run was cut short."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the terminal."""


class Lines(Watcher):
    """A watch that writes a line at intervals, and a summary at the end."""

    every_s = LINE_EVERY_S

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._shown_at = float("-inf")
        self._last: Progress | None = None
        self._message = ""

    def __call__(self, progress: Progress) -> None:
        """Write a line if it is due; a new message is written at once, before the start of the run without a state."""
        if progress.message and not (progress.elapsed_s or progress.outcomes):
            self._write(self.notice(progress))
            return
        self._last = progress
        progress, before = advised(progress), self._message
        self._message = progress.message
        if progress.message and progress.message != before:
            self._write(self.notice(progress))
        if progress.at - self._shown_at >= self.every_s:
            self._show()

    def finish(self, summary: Summary | None) -> None:
        """Write the last state, if it was not yet shown, and the summary."""
        self._show()
        self._write(self.closing(summary))

    def line(self, progress: Progress) -> str:
        """Return one state as a line."""
        return line(progress)

    def notice(self, progress: Progress) -> str:
        """Return the message as a line."""
        return progress.message

    def closing(self, summary: Summary | None) -> str:
        """Return the summary as a line."""
        return closing(summary)

    def _show(self) -> None:
        if self._last is not None:
            self._shown_at = self._last.at
            self._write(self.line(self._last))
            self._last = None

    def _write(self, text: str) -> None:
        print(fit(text, self._out), file=self._out, flush=True)


class JsonLines(Lines):
    """A watch that writes JSON objects, one per line; `event` is progress, message or end."""

    every_s = JSON_EVERY_S

    def line(self, progress: Progress) -> str:
        """Return one state as JSON."""
        shown = asdict(progress)
        if not progress.partitions:
            del shown["partitions"]
        return json_line("progress", shown)

    def notice(self, progress: Progress) -> str:
        """Return the message as JSON."""
        return json_line("message", {"at": progress.at, "message": progress.message})

    def closing(self, summary: Summary | None) -> str:
        """Return the summary as JSON."""
        return json_line("end", asdict(summary) if summary else {"reason": "cut short"})


def advised(progress: Progress) -> Progress:
    """Return the state with advice as its message, if it has no message and advice is needed."""
    return progress if progress.message else replace(progress, message=advice(progress))


def line(progress: Progress) -> str:
    """Return one state of a crawl as a line.

    Examples
    --------
    >>> from evercrawl.progress import Progress
    >>> line(Progress(at=0, elapsed_s=75, visits=12, rate_per_s=1.5, known=90, fetched=10, queue=70, bytes_in=44_000))
    '0:01:15  1.5 visits/s  visits 12  known 90  fetched 10  changed 0  queue 70  44.0 kB in'
    """
    parts = [
        clock(progress.elapsed_s),
        f"{progress.rate_per_s:.1f} visits/s",
        f"visits {progress.visits}" + (f" ({counts(progress.outcomes)})" if progress.outcomes else ""),
        f"known {progress.known}",
        f"fetched {progress.fetched}",
        f"changed {progress.changed}",
        f"queue {progress.queue}",
        f"{size(progress.bytes_in)} in",
    ]
    if progress.rendering:
        parts.append(f"in the browser {progress.rendering}")
    if progress.errors:
        parts.append(f"errors: {counts(progress.errors)}")
    if progress.waiting:
        parts.append(f"hosts waiting: {counts(progress.waiting)}")
    if progress.next_at is not None:
        parts.append(upcoming(progress))
    if progress.disk_full:
        parts.append("DISK FULL")
    if progress.names_trouble:
        parts.append(progress.names_trouble)
    return "  ".join(parts)


def upcoming(progress: Progress) -> str:
    """Return the next due page and its time, while nothing is due.

    Examples
    --------
    >>> from evercrawl.progress import Progress
    >>> upcoming(Progress(at=0, next_at=75.2, next_url="https://example.org/"))
    'nothing is due; next is https://example.org/ in 0:01:15, at 00:01:15 UTC'
    """
    at = progress.next_at or progress.at
    when = datetime.fromtimestamp(at, UTC)
    day = "" if at - progress.at < DAY_S else f" on {when:%Y-%m-%d}"
    return f"nothing is due; next is {progress.next_url} in {clock(at - progress.at)}, at {when:%H:%M:%S} UTC{day}"


def closing(summary: Summary | None) -> str:
    """Return the summary of a run."""
    if summary is None:
        return "interrupted; nothing acknowledged is lost, and the next start recovers"
    return (
        f"ended ({summary.reason}) after {clock(summary.elapsed_s)}: {many(summary.visits, 'visits')}; "
        f"{many(summary.fetched, 'pages')} stored, {many(summary.known, 'URLs')} known"
    )


def counts(of: dict[str, int]) -> str:
    """Return counts as text, largest first.

    Examples
    --------
    >>> counts({"dns": 1, "timeout": 3})
    'timeout 3, dns 1'
    """
    return ", ".join(f"{name} {count}" for name, count in sorted(of.items(), key=lambda item: (-item[1], item[0])))


def clock(duration_s: float) -> str:
    """Return a duration as hours, minutes, seconds.

    Examples
    --------
    >>> clock(3725.9)
    '1:02:05'
    """
    minutes, seconds = divmod(int(duration_s), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def size(size_bytes: float) -> str:
    """Return a size as text, in a suitable unit.

    Examples
    --------
    >>> size(999), size(44_000), size(1.2e9)
    ('999 B', '44.0 kB', '1.2 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size_bytes < 1000:
            return f"{size_bytes:.0f} B" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1000
    return f"{size_bytes:.1f} TB"
