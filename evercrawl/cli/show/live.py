"""The display of a running crawl: live on a terminal, lines elsewhere, or JSON."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TextIO

from evercrawl.cli.show.lines import JsonLines, Lines, Watcher

if TYPE_CHECKING:
    from asyncio import Event

    from evercrawl.progress import Progress, Summary

OUTPUT_CLOSED: Final = "output closed"
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def watcher(*, as_json: bool, quiet: bool, out: TextIO | None = None) -> Watcher:
    """Return the watch that suits `out`, by default standard output."""
    stream: TextIO = sys.stdout if out is None else out
    if as_json:
        return JsonLines(stream)
    if quiet:
        return Watcher()
    if not stream.isatty():
        return Lines(stream)
    from evercrawl.cli.show.screen import Screen

    return Screen(stream)


class Outlet(Watcher):
    """A watch that shows the crawl until its output is closed, as by `| head`, a lost terminal or a restarted journald.

    Parameters
    ----------
    shown
        Shows the crawl.
    logged
        Whether there is a log: then the run continues without output, and otherwise must end. With a log, lines that a
        full disk refuses are dropped.

    Attributes
    ----------
    closed
        Whether the output is closed.
    ended_run
        Whether the run was ended for that reason, and not because it was stopped before.
    """

    def __init__(self, shown: Watcher, *, logged: bool = False) -> None:
        self._shown, self._logged, self.closed, self.ended_run = shown, logged, False, False

    @property
    def over(self) -> bool:
        """Return whether the run must end, because nothing can tell of it any more."""
        return self.closed and not self._logged

    def __call__(self, progress: Progress) -> None:
        """Show a state."""
        self._show(lambda: self._shown(progress))

    def finish(self, summary: Summary | None) -> None:
        """Show the end."""
        self._show(lambda: self._shown.finish(summary))

    def __enter__(self) -> Self:
        self._show(self._shown.__enter__)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the terminal."""
        self._show(lambda: self._shown.__exit__(kind, error, trace))

    def _show(self, show: Callable[[], object]) -> None:
        if self.closed:
            return
        try:
            show()
        except OSError as error:
            if error.errno in _FULL and self._logged:
                return
            if error.filename is not None or error.errno in _FULL:
                raise
            self.closed = True
            hush()


def heard(watch: Watcher, stop: Event, outlet: Outlet | None = None) -> Callable[[Progress], None]:
    """Return a function that calls `watch`, and ends the run if its output is closed and no log replaces it."""

    def tell(progress: Progress) -> None:
        try:
            watch(progress)
        except BrokenPipeError:
            hush()
            stop.set()
        if outlet is not None and outlet.over and not stop.is_set():
            outlet.ended_run = True
            stop.set()

    return tell


def say_closed() -> None:
    """Say on standard error, if that is open, why the run ended."""
    with contextlib.suppress(OSError):
        print(f"evercrawl: the run ended: {OUTPUT_CLOSED}; with --log FILE a run continues without", file=sys.stderr)


def hush() -> None:
    """Redirect standard output to nowhere from now on."""
    with contextlib.suppress(OSError):  # of an output without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
