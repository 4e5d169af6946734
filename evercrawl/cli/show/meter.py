"""How far long work has come: a bar on a terminal, and now and then a line elsewhere, if at all."""

import math
import time
from types import TracebackType
from typing import Any, Final, Self, TextIO

EVERY_S: Final = 0.2
LINE_EVERY_S: Final = 10.0
"""How often a line is written, of work that takes hours."""


class Meter:
    """Called with what is being done, how much is done, and of how much; the bar is gone when the work has ended.

    Parameters
    ----------
    out
        Where it is shown.
    line_every_s
        How often a line is written where `out` is no terminal, the first after so long; by default never.
    nouns
        What is counted.
    """

    def __init__(self, out: TextIO, line_every_s: float = math.inf, nouns: str = "") -> None:
        self._out, self._nouns = out, nouns and f" {nouns}"
        self._bar: Any = _bar(out) if out.isatty() else None
        self._every_s = line_every_s if self._bar is None else EVERY_S
        self._due_at = time.monotonic() + line_every_s if self._bar is None else 0.0

    def __call__(self, what: str, done: float, total: int, nouns: str = "") -> None:
        """Show it, if what was shown last is old enough."""
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
        """Take the bar away, as something else is to be written."""
        if self._bar is not None:
            self._bar.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        self.hide()


def _bar(out: TextIO) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn()
    bar = Progress(*columns, console=Console(file=out), auto_refresh=False, transient=True)
    bar.add_task("")
    return bar
