"""Progress of long work: a bar on a terminal; elsewhere, if requested, a line at intervals."""

import math
import time
from types import TracebackType
from typing import Any, Final, Self, TextIO

EVERY_S: Final = 0.2
LINE_EVERY_S: Final = 10.0
"""Interval between two lines, for work that takes hours."""


class Meter:
    """A progress display, called with the kind of work, the amount done, and the total; the bar is removed at the end.

    Parameters
    ----------
    out
        The output stream.
    line_every_s
        Interval between two lines if `out` is not a terminal, also before the first; by default no lines are written.
    nouns
        Names of the things counted.
    """

    def __init__(self, out: TextIO, line_every_s: float = math.inf, nouns: str = "") -> None:
        self._out, self._nouns = out, nouns and f" {nouns}"
        self._bar: Any = _bar(out) if out.isatty() else None
        self._every_s = line_every_s if self._bar is None else EVERY_S
        self._due_at = time.monotonic() + line_every_s if self._bar is None else 0.0

    def __call__(self, what: str, done: float, total: int, nouns: str = "") -> None:
        """Show the progress, if the last display is old enough."""
        if time.monotonic() < self._due_at:
            return
        self._due_at = time.monotonic() + self._every_s
        count = f"{done:,}" if isinstance(done, int) else f"{done:.1f}"
        text = f"{what}: {count} of {total:,}{f' {nouns}' if nouns else self._nouns}"
        if self._bar is None:
            print(f"{text} ({done / max(total, 1):.0%})", file=self._out, flush=True)
        else:
            self._bar.update(self._bar.task_ids[0], description=text, completed=done, total=total)
            self._bar.start()
            self._bar.refresh()

    def hide(self) -> None:
        """Remove the bar, because something else will be written."""
        if self._bar is not None:
            self._bar.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        self.hide()


def _bar(out: TextIO) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn()
    bar = Progress(*columns, console=Console(file=out), auto_refresh=False, transient=True)
    bar.add_task("")
    return bar
