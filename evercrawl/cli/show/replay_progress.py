"""How far replays have come: on one line of a terminal, and a line now and then elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.cli.show.meter import Line

if TYPE_CHECKING:
    from typing import TextIO

_LINE_EVERY_S: Final = 10.0


class Progress(Line):
    """Called with what is being replayed, how many replays are done, in part too, and of how many."""

    def __init__(self, out: TextIO, line_every_s: float = _LINE_EVERY_S) -> None:
        super().__init__(out, line_every_s)

    def __call__(self, what: str, done: float, total: int) -> None:
        """Show it, if the last word is old enough."""
        if self.due():
            self.show(f"{what}: {done:.1f} of {total:,} replays ({done / total:.0%})")
