"""How far long work has come, on one line of a terminal; nothing elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

EVERY_S: Final = 0.2
_CLEAR: Final = "\r\x1b[2K"


class Meter:
    """Called with what is being done, how much is done, and of how much; shows it on `out` if that is a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._shows = out.isatty()
        self._shown_at = float("-inf")

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show it, if the last word is old enough."""
        now = time.monotonic()
        if self._shows and now - self._shown_at >= EVERY_S:
            self._shown_at = now
            self._out.write(f"{_CLEAR}{what}: {done:,} of {total:,} ({done / max(total, 1):.0%})")
            self._out.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the line empty."""
        if self._shows:
            self._out.write(_CLEAR)
            self._out.flush()
