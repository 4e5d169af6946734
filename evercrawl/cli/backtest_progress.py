"""How far replays have come: on one line of a terminal, and a line now and then elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

_EVERY_S: Final = 0.2
_LINE_EVERY_S: Final = 10.0
_CLEAR: Final = "\r\x1b[2K"


class Progress:
    """Called with what is being replayed, how many replays are done, in part too, and of how many.

    Parameters
    ----------
    out
        Where it is shown.
    line_every_s
        How often a line is written where `out` is no terminal, the first after so long.
    """

    def __init__(self, out: TextIO, line_every_s: float = _LINE_EVERY_S) -> None:
        self._out = out
        self._live = out.isatty()
        self._every_s = _EVERY_S if self._live else line_every_s
        self._shown_at = time.monotonic()

    def __call__(self, what: str, done: float, total: int) -> None:
        """Show it, if the last word is old enough."""
        now = time.monotonic()
        if now - self._shown_at < self._every_s:
            return
        self._shown_at = now
        text = f"{what}: {done:.1f} of {total:,} replays ({done / total:.0%})"
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
