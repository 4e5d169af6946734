"""The display of a running crawl: live on a terminal, lines elsewhere, or JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from evercrawl.cli.show.lines import JsonLines, Lines, Watcher

if TYPE_CHECKING:
    from asyncio import Event

    from evercrawl.progress import Progress


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


def heard(watch: Watcher, stop: Event) -> Callable[[Progress], None]:
    """Return a function that calls `watch`, and ends the run if the reader of the output has gone, as with `| head`."""

    def tell(progress: Progress) -> None:
        try:
            watch(progress)
        except BrokenPipeError:
            hush()
            stop.set()

    return tell


def hush() -> None:
    """Redirect standard output to nowhere from now on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
