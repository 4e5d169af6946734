"""The live display on a terminal."""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from evercrawl.cli.show.lines import Watcher, advised, clock, closing, counts, size, upcoming
from evercrawl.cli.show.plain import plain

if TYPE_CHECKING:
    from evercrawl.progress import Progress, Summary

EVERY_S = 0.25
SAMPLE_EVERY_S = 1.0
SAMPLES = 60
_BARS = " ▁▂▃▄▅▆▇█"


class Screen(Watcher):
    """A live display of rate, counts, errors and backlog, refreshed a few times per second."""

    def __init__(self, out: TextIO) -> None:
        self._live = Live(console=Console(file=out), auto_refresh=False)
        self._rates: deque[float] = deque(maxlen=SAMPLES)
        self._last: Progress | None = None
        self._drawn_at = self._sampled_at = float("-inf")
        self._message = ""

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Keep the last picture, and restore the cursor."""
        self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Draw the state, if the last picture is old enough; write a new message above it."""
        if progress.message and not (progress.elapsed_s or progress.outcomes):
            self._live.console.print(Text(plain(progress.message), "yellow"))
            return
        self._last = progress
        if progress.at - self._sampled_at >= SAMPLE_EVERY_S:
            self._rates.append(progress.rate_per_s)
            self._sampled_at = progress.at
        progress, before = advised(progress), self._message
        self._message = progress.message
        if progress.message and progress.message != before:
            self._live.console.print(Text(plain(progress.message), "yellow"))
        if progress.at - self._drawn_at >= EVERY_S:
            self._draw()

    def finish(self, summary: Summary | None) -> None:
        """Draw the last state, and write the summary below it."""
        self._draw()
        self._live.stop()
        self._live.console.print(Text(closing(summary), "bold"))

    def _draw(self) -> None:
        if self._last is not None:
            self._drawn_at = self._last.at
            self._live.update(picture(self._last, list(self._rates)), refresh=True)


def picture(progress: Progress, rates: list[float]) -> Group:
    """Return the display of a state; `rates` are those of the last minute, one per second."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", justify="right")
    rows.add_column()
    rows.add_row("rate", _rate(progress, rates))
    rows.add_row("pages", _pages(progress))
    if progress.outcomes:
        rows.add_row("visits", Text(f"{progress.visits}: {counts(progress.outcomes)}"))
    rows.add_row("errors", Text(plain(counts(progress.errors)), "red") if progress.errors else Text("none", "dim"))
    rows.add_row("hosts waiting", Text(counts(progress.waiting) or "none", "" if progress.waiting else "dim"))
    if progress.next_at is not None:
        rows.add_row("next", Text(plain(upcoming(progress))))
    title = Text.assemble(("evercrawl", "bold"), "  ", clock(progress.elapsed_s))
    full = [Text("The disk is full: no fetching until there is room.", "bold red")] if progress.disk_full else []
    names = [Text(plain(progress.names_trouble), "bold red")] if progress.names_trouble else []
    return Group(title, rows, *full, *names)


def bars(values: list[float]) -> str:
    """Return a row of bars, with the highest for the largest value.

    Examples
    --------
    >>> bars([0, 1, 4, 8])
    ' ▁▄█'
    """
    top = max(values, default=0.0) or 1.0
    return "".join(_BARS[round(value / top * 8)] for value in values)


def _rate(progress: Progress, rates: list[float]) -> Text:
    text = f"{progress.rate_per_s:.1f} visits/s   {size(progress.bytes_in)} in   {progress.in_flight} in flight   "
    return Text.assemble(text, (bars(rates), "cyan"))


def _pages(progress: Progress) -> Text:
    return Text(
        f"known {progress.known:,}   fetched {progress.fetched:,}   changed {progress.changed:,}   "
        f"duplicates {progress.duplicates:,}   queue {progress.queue:,}"
    )
