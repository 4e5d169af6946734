"""Compilation of inner loops before a run starts."""

from __future__ import annotations

import importlib
import os
import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from evercrawl.cli.show.lines import Watcher

MESSAGE = (
    "compiling the inner loops for this machine; this takes some seconds, up to a minute on a busy machine, and "
    "the next start reuses the result"
)
EACH_TIME = "compiling the inner loops for this run only; this takes some seconds, up to a minute on a busy machine"
PROCESSES: Final = min(os.cpu_count() or 1, 4)
"""Number of concurrent compilations; more than four would only wait for the largest module."""
NOT_KEPT = "the compiled code cannot be stored, so every start compiles: set XDG_CACHE_HOME to a writable folder"


def up(watch: Watcher, engine: str = "evercrawl.crawl.session") -> None:
    """Compile the inner loops that a module uses if they were never compiled, and print a message.

    During the run, compilation would block everything for seconds, including signals and the run's limits.
    """
    from evercrawl import kernels
    from evercrawl.progress import Progress

    importlib.import_module(engine)  # the module's imports name everything that it uses
    if kernels.missing():
        watch(Progress(at=time.time(), message=EACH_TIME if kernels.jit() else MESSAGE))
        if not kernels.warm(PROCESSES):
            watch(Progress(at=time.time(), message=NOT_KEPT))


def before_reading(engine: str) -> None:
    """Do the same for a query, whose answer alone goes to standard output."""
    from evercrawl.cli.show.lines import Lines

    up(Lines(sys.stderr), engine)
