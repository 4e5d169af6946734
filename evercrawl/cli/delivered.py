"""Deliveries beside a crawl: a separate process sends changes to the webhook and the feeds, and copies the archive."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from evercrawl.cli.delivering import END_S, NAMES, wanted
from evercrawl.cli.show.lines import Watcher

if TYPE_CHECKING:
    from evercrawl.config import Config
    from evercrawl.progress import Progress, Summary

AGAIN_S: Final = 60.0
"""Delay before a process that ended by itself is started again."""
_KILL_S: Final = 2.0


def delivered(config: Config, directory: Path, watch: Watcher) -> AbstractContextManager[Watcher]:
    """Return a watch that passes on the crawl's progress, with deliveries beside it if the settings ask for any."""
    return DeliveredBeside(watch, directory, config) if wanted(config) else nullcontext(watch)


class DeliveredBeside(Watcher):
    """A watch that passes on the crawl's progress, and runs the process of deliveries.

    Parameters
    ----------
    watch
        Receives all progress, and problems with deliveries.
    directory, config
        The crawl's directory and settings.
    """

    def __init__(self, watch: Watcher, directory: Path, config: Config) -> None:
        self._watch, self._directory, self._config = watch, directory, config
        self._child: subprocess.Popen[str] | None = None
        self._listener: threading.Thread | None = None
        self._next_at = 0.0
        self._said = list[str]()

    def __call__(self, progress: Progress) -> None:
        """Pass the state on; start the deliveries at the first state, and restart them some time after they ended."""
        self._watch(progress)
        begun = bool(progress.elapsed_s or progress.outcomes)
        if begun and (self._child is None or self._child.poll() is not None) and time.monotonic() >= self._next_at:
            self._next_at = time.monotonic() + AGAIN_S
            self._begin()
        self._tell()

    def finish(self, summary: Summary | None) -> None:
        """Pass the end on."""
        self._watch.finish(summary)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let known changes be delivered for some seconds; the next start delivers the rest."""
        if self._child is None:
            return
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        try:
            self._child.wait(END_S + _KILL_S)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            self._child.kill()
            self._child.wait()
        if self._listener is not None:
            self._listener.join(_KILL_S)
            if not self._listener.is_alive() and self._child.stdout is not None:
                self._child.stdout.close()
        self._tell()

    def _tell(self) -> None:
        from evercrawl.progress import Progress as State

        while self._said:
            self._watch(State(at=time.time(), message=self._said.pop(0)))

    def _begin(self) -> None:
        import msgspec

        self._child = subprocess.Popen(
            [sys.executable, "-m", "evercrawl.cli.delivering", str(self._directory)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        assert self._child.stdin is not None
        given = {name: getattr(self._config, name) for name in NAMES}  # may contain a secret, so it is not an argument
        with contextlib.suppress(OSError):
            self._child.stdin.write(msgspec.json.encode(given).decode() + "\n")
            self._child.stdin.flush()
        self._listener = threading.Thread(target=self._listen, args=(self._child,), daemon=True)
        self._listener.start()

    def _listen(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            if len(self._said) < 100 and line.strip():
                self._said.append(line.strip())
