"""The server beside a crawl: a separate process that starts once there is something to show, and ends with it."""

from __future__ import annotations

import argparse
import ctypes
import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, cast

from evercrawl.cli import arguments
from evercrawl.cli.show.lines import Watcher
from evercrawl.config import values

if TYPE_CHECKING:
    from evercrawl.progress import Progress, Summary

_END_S: Final = 5.0
_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None)


def add_serve(parser: argparse.ArgumentParser) -> None:
    """Add `--serve`."""
    parser.add_argument(
        "--serve",
        metavar="PORT",
        nargs="?",
        const="8400",
        help="also show the crawl in a browser, as `evercrawl serve` does (default port: 8400; 0: a free one)",
    )


def beside(args: argparse.Namespace, directory: Path, watch: Watcher) -> AbstractContextManager[Watcher]:
    """Return a watch that passes on the crawl's progress, with a server beside it if requested.

    Raises
    ------
    ConfigError
        The port is invalid.
    """
    if args.serve is None:
        return nullcontext(watch)
    return ServedBeside(watch, directory, cast("int", arguments.value(values.whole(0), args.serve, "--serve")))


class ServedBeside(Watcher):
    """A watch that passes on the crawl's progress, and runs `evercrawl serve` beside it.

    Parameters
    ----------
    watch
        Receives all progress, and the link once it can be opened.
    directory
        The crawl directory.
    port
        The port to listen on; 0 for a free one.
    """

    def __init__(self, watch: Watcher, directory: Path, port: int) -> None:
        self._watch, self._directory, self._port = watch, directory, port
        self._child: subprocess.Popen[str] | None = None
        self._said = ""

    def __call__(self, progress: Progress) -> None:
        """Pass the state on; start the server at the first one."""
        from evercrawl.progress import Progress as State

        self._watch(progress)
        if self._child is None and (progress.elapsed_s or progress.outcomes):
            self._begin()
        if self._said:
            said, self._said = self._said, ""
            self._watch(State(at=time.time(), message=said))

    def finish(self, summary: Summary | None) -> None:
        """Pass the end on."""
        self._watch.finish(summary)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the server."""
        if self._child is not None:
            self._child.terminate()
            try:
                self._child.wait(_END_S)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()

    def _begin(self) -> None:
        command = [sys.executable, "-m", "evercrawl", "serve", "--dir", str(self._directory)]
        self._child = subprocess.Popen(
            [*command, "--port", str(self._port), "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, preexec_fn=_end_with_parent, start_new_session=True,
        )  # fmt: skip
        threading.Thread(target=self._listen, args=(self._child,), daemon=True).start()

    def _listen(self, child: subprocess.Popen[str]) -> None:
        """Read the link, or the reason why there is none."""
        assert child.stdout is not None
        assert child.stderr is not None
        line = child.stdout.readline()
        found: dict[str, str] = json.loads(line) if line else {}
        if "link" in found:
            self._said = f"the crawl is at {found['link']}"
        else:
            why = found.get("message") or child.stderr.read().strip().rpartition("\n")[2] or "it ended at once"
            self._said = f"the server could not start: {why}"
        for stream in (child.stdout, child.stderr):  # so that the server never waits for a reader
            threading.Thread(target=stream.read, daemon=True).start()


def _end_with_parent() -> None:
    """Let the kernel end this process when the crawl ends, for whatever reason."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
