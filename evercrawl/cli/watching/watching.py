"""The flags of an unattended run, and what they set up: the log, and the alerts."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast

from evercrawl.cli import arguments
from evercrawl.cli.show.lines import Watcher
from evercrawl.cli.show.plain import fit
from evercrawl.cli.watching.rotating import RotatingFile
from evercrawl.config import values
from evercrawl.errors import ConfigError
from evercrawl.progress import Progress

if TYPE_CHECKING:
    from evercrawl.cli.watching.run_log import RunLog
    from evercrawl.progress import Summary

_FORMS: Final = ("json", "text")
_VISITS: Final = ("failed", "all")


def add_watching(parser: argparse.ArgumentParser) -> None:
    """Add the flags; they are not settings, so that a directory of a stranger cannot name a file or a command."""
    group = parser.add_argument_group("log and alerts, for this run")
    group.add_argument("--log", metavar="FILE", help="write a log: messages, the state, and why visits failed")
    group.add_argument("--log-format", choices=_FORMS, default="json", help="lines of JSON or text (default: json)")
    group.add_argument("--log-visits", choices=_VISITS, default="failed", help="which visits (default: failed)")
    group.add_argument(
        "--log-size",
        metavar="SIZE",
        default="10MB",
        help="size at which a new file begins; five old ones are kept (default: 10MB)",
    )
    group.add_argument(
        "--alert-command", metavar="COMMAND", default="", help="run this command for each alert, on its standard input"
    )
    group.add_argument(
        "--alert-url", metavar="URL", default="", help="post alerts to this URL; env:NAME or file:PATH if it is secret"
    )
    group.add_argument(
        "--alert-every", metavar="TIME", default="1h", help="minimum time between two alerts of a kind (default: 1h)"
    )
    group.add_argument(
        "--min-freshness",
        metavar="SHARE",
        default="0",
        help="alert if a smaller share of sampled copies is found unchanged",
    )


class Watching(Watcher):
    """A watch that passes on progress to the display, to the log, and to the alerts.

    With a log, SIGHUP makes it reopen the log's file, and does not end the run.

    Parameters
    ----------
    args, directory
        Flags, and the crawl.
    shown
        Shows the crawl.

    Attributes
    ----------
    heard
        Receives visits; None without a log.
    """

    def __init__(self, args: argparse.Namespace, directory: Path, shown: Watcher) -> None:
        self._shown, self._troubles = shown, deque[str](maxlen=10)
        self.heard: RunLog | None = None
        self._alerts, self._hook, self._file = None, None, None
        self._before: Any = signal.SIG_DFL
        if args.log:
            most = cast("int", arguments.value(values.size(1000), args.log_size, "--log-size"))
            self._file = RotatingFile(Path(args.log), most, self._troubles.append)
            from evercrawl.cli.watching.run_log import RunLog

            self.heard = RunLog(self._file, args.log_format, every=args.log_visits == "all", clock=time.time)
            self.heard.write("start", time.time(), {"directory": str(directory.resolve())})
        every_s = cast("float", arguments.value(values.duration(), args.alert_every, "--alert-every"))
        least = cast("float", arguments.value(values.share(), args.min_freshness, "--min-freshness"))
        if args.alert_command or args.alert_url:
            from evercrawl.cli.watching.alerts import Alerts
            from evercrawl.cli.watching.hook import AlertHook

            self._hook = AlertHook(args.alert_command, args.alert_url, self._troubles.append)
            self._alerts = Alerts(
                self._hook, str(directory.resolve()), every_s=every_s, min_fresh=least, clock=time.time
            )
        elif least:
            raise ConfigError("--min-freshness alerts nobody; add --alert-command or --alert-url")

    def __call__(self, progress: Progress) -> None:
        """Pass the state on."""
        if self._file is not None:
            self._file.refresh()
        while self._troubles:
            self._tell(Progress(at=progress.at, message=self._troubles.popleft()))
        self._tell(progress)

    def finish(self, summary: Summary | None) -> None:
        """Pass the end on."""
        self._shown.finish(summary)
        for each in (self.heard, self._alerts):
            if each is not None:
                each.finish(summary)

    def __enter__(self) -> Self:
        if self._file is not None:
            self._before = signal.signal(signal.SIGHUP, self._hung_up)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Report the error with which the run ended, and wait a moment for pending alerts."""
        for each in (self.heard, self._alerts):
            if each is not None and isinstance(error, Exception):
                each.failed(error)
        if self._hook is not None:
            self._hook.close()
            for trouble in self._troubles:  # the display may be over, or quiet
                print(fit(f"evercrawl: {trouble}", sys.stderr), file=sys.stderr)
        if self.heard is not None and self._file is not None:
            signal.signal(signal.SIGHUP, self._before)
            for trouble in self._troubles:
                self.heard.write("message", time.time(), {"message": trouble})
            self._file.close()

    def _hung_up(self, number: int, frame: object) -> None:
        if self._file is not None:
            self._file.reopen_soon()

    def _tell(self, progress: Progress) -> None:
        self._shown(progress)
        for each in (self.heard, self._alerts):
            if each is not None:
                each(progress)
