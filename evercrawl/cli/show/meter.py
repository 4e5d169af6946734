"""How far long work has come: on one line of a terminal, and now and then on a line of its own elsewhere, if at all."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

EVERY_S: Final = 0.2
_CLEAR: Final = "\r\x1b[2K"


class Line:
    """What is said last stands on the terminal until something else is, and is gone when the work has ended.

    Parameters
    ----------
    out
        Where it is shown.
    line_every_s
        How often a line is written where `out` is no terminal, the first after so long; by default never.
    """

    def __init__(self, out: TextIO, line_every_s: float = math.inf) -> None:
        self._out = out
        self._live = out.isatty()
        self._every_s = EVERY_S if self._live else line_every_s
        self._shown_at = -math.inf if self._live else time.monotonic()

    def due(self) -> bool:
        """Return whether the last word is old enough for another."""
        return time.monotonic() >= self._shown_at + self._every_s

    def show(self, text: str) -> None:
        """Say it, in place of what was said before."""
        self._shown_at = time.monotonic()
        self._out.write(f"{_CLEAR}{text}" if self._live else f"{text}\n")
        self._out.flush()

    def hide(self) -> None:
        """Leave the line empty, as something else is to be written."""
        if self._live:
            self._out.write(_CLEAR)
            self._out.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the line empty."""
        self.hide()


class Meter(Line):
    """Called with what is being done, how much is done, and of how much; shows it on `out` if that is a terminal."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show it, if the last word is old enough."""
        if self.due():
            self.show(f"{what}: {done:,} of {total:,} ({done / max(total, 1):.0%})")
