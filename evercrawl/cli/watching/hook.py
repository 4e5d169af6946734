"""The receivers of alerts: a command, a URL, or both; a separate thread sends, so that the crawl never waits."""

from __future__ import annotations

import contextlib
import http.client
import os
import shlex
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from evercrawl.cli.show.plain import many
from evercrawl.config.secrets import revealed
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError

MOST_WAITING: Final = 100
COMMAND_S: Final = 30.0
URL_S: Final = 10.0
LAST_S: Final = 10.0
"""Maximum wait for pending alerts at the end of a run: half for those in their order, half to try what is left."""
_LOOK_S: Final = 0.1
_LEAST_S: Final = 1.0
"""Least time in which an alert is tried at the end of a run, while there is any."""
_STOPPED_S: Final = 0.5
_NEVER: Final = threading.Event()


class _StayHandler(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: alerts are meant for one URL."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class AlertHook:
    """Sends alerts.

    Parameters
    ----------
    command
        A command, which gets the alert on its standard input and is run without a shell; "" for none.
    url
        The URL to which alerts are posted; `env:NAME` or `file:PATH` if it contains a secret; "" for none.
    failed
        Called, in the thread, with a sentence if an alert could not be sent.

    Raises
    ------
    ConfigError
        The command or the URL is invalid.
    """

    def __init__(self, command: str, url: str, failed: Callable[[str], None] = lambda _: None) -> None:
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise ConfigError(f"--alert-command must be a command, not {command!r}: {error}") from error
        self._url = revealed(url, "--alert-url")
        if self._url and not self._url.startswith(("http://", "https://")):
            raise ConfigError("--alert-url must be an http or https URL, or env:NAME or file:PATH that holds one")
        self._failed = failed
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _StayHandler)
        self._lines, self._changed = deque[str](), threading.Condition()
        self._closed, self._cut, self._under_way = False, threading.Event(), ""
        self._thread = threading.Thread(target=self._deliver, name="alerts", daemon=True)
        self._thread.start()

    def __call__(self, line: str) -> None:
        """Queue an alert, a JSON object; it is dropped if too many are waiting."""
        with self._changed:
            full = len(self._lines) >= MOST_WAITING
            if not full:
                self._lines.append(line)
                self._changed.notify()
        if full:
            self._failed("alerts come faster than the hook takes them; one was dropped")

    def close(self) -> None:
        """Wait a moment for pending alerts; then stop the one under way, and try the others once, the newest first."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(LAST_S / 2)
        if not self._thread.is_alive() and not self._lines:
            return
        self._cut.set()
        with self._changed:
            rest = list(reversed(self._lines))
            self._lines.clear()
        until = time.monotonic() + LAST_S / 2
        lost = [line for number, line in enumerate(rest) if not self._hurried(line, until, len(rest) - number)]
        self._thread.join(_STOPPED_S)
        if self._thread.is_alive() and (line := self._under_way):  # its URL does not answer
            lost.append(line)
        if lost:
            self._failed(
                f"not delivered at the end of the run: {many(len(lost), 'alerts')} ({', '.join(map(_kind, lost))})"
            )

    def _hurried(self, line: str, until: float, count: int) -> bool:
        """Deliver one of `count` alerts within its share of the time that is left; return whether that succeeded."""
        left_s = until - time.monotonic()
        if left_s <= 0.0:
            return False
        share_s = min(max(left_s / count, _LEAST_S), left_s)
        return self._tell(line, share_s, share_s, _NEVER)

    def _deliver(self) -> None:
        while (line := self._next()) is not None:
            self._under_way = line
            self._tell(line, COMMAND_S, URL_S, self._cut)
            self._under_way = ""

    def _tell(self, line: str, command_s: float, url_s: float, cut: threading.Event) -> bool:
        """Deliver an alert to both; return whether that succeeded."""
        troubles = [self._run(line.encode(), command_s, cut), self._post(line.encode(), url_s)]
        for trouble in filter(None, troubles):
            self._failed(trouble + (f"; the alert was: {_kind(line)}" if cut.is_set() else ""))
        return not any(troubles)

    def _next(self) -> str | None:
        """Return the next alert as soon as there is one; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._closed)
            return self._lines.popleft() if self._lines else None

    def _run(self, body: bytes, most_s: float, cut: threading.Event) -> str:
        """Run the command until it ends, for `most_s` at most, or until `cut`."""
        if not self._command:
            return ""
        try:
            child = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=os.sep,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return f"the alert command cannot be run: {error.strerror}"
        began, given = time.monotonic(), body or None
        with child:
            while True:
                try:
                    child.communicate(given, timeout=min(_LOOK_S, most_s))
                    break
                except subprocess.TimeoutExpired:
                    given = None
                    after_s = time.monotonic() - began
                    if after_s >= most_s or cut.is_set():
                        _end(child)
                        return f"the alert command did not end within {after_s:.1f} s and was stopped"
        return f"the alert command ended with exit code {child.returncode}" if child.returncode else ""

    def _post(self, body: bytes, most_s: float) -> str:
        if not self._url:
            return ""
        headers = {"Content-Type": "application/json", "User-Agent": "evercrawl"}
        request = urllib.request.Request(self._url, body, headers, method="POST")
        try:
            with self._opener.open(request, timeout=most_s):
                return ""
        except urllib.error.HTTPError as error:
            return f"the alert URL answered with status {error.code}"
        except (OSError, ValueError, http.client.HTTPException) as error:
            why = getattr(error, "reason", error)
            return f"the alert URL cannot be reached: {type(why).__name__}"


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill a command with its children."""
    with contextlib.suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _kind(line: str) -> str:
    """Return the kind of an alert, such as `disk_full`."""
    found = json_of(line.encode(), dict[str, object])
    return str(found.get("kind", "alert"))
