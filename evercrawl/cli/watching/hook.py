"""The receivers of alerts: a command, a URL, or both; a separate thread sends, so that the crawl never waits."""

from __future__ import annotations

import os
import queue
import shlex
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, Final

from evercrawl.config.secrets import revealed
from evercrawl.errors import ConfigError

MOST_WAITING: Final = 100
COMMAND_S: Final = 30.0
URL_S: Final = 10.0
LAST_S: Final = 10.0
"""Maximum wait for pending alerts at the end of a run."""


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
        self._waiting = queue.Queue[str | None](MOST_WAITING)
        self._thread = threading.Thread(target=self._deliver, name="alerts", daemon=True)
        self._thread.start()

    def __call__(self, line: str) -> None:
        """Queue an alert, a JSON object; it is dropped if too many are waiting."""
        try:
            self._waiting.put_nowait(line)
        except queue.Full:
            self._failed("alerts come faster than the hook takes them; one was dropped")

    def close(self) -> None:
        """Wait a moment for pending alerts."""
        try:
            self._waiting.put(None, timeout=LAST_S / 2)
        except queue.Full:
            return
        self._thread.join(LAST_S / 2)

    def _deliver(self) -> None:
        while (line := self._waiting.get()) is not None:
            for tell in (self._run, self._post):
                trouble = tell(line.encode())
                if trouble:
                    self._failed(trouble)

    def _run(self, body: bytes) -> str:
        if not self._command:
            return ""
        try:
            ran = subprocess.run(
                self._command, input=body, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=COMMAND_S,
                check=False, cwd=os.sep,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"the alert command did not end within {COMMAND_S:.0f} s and was stopped"
        except OSError as error:
            return f"the alert command cannot be run: {error.strerror}"
        return f"the alert command ended with exit code {ran.returncode}" if ran.returncode else ""

    def _post(self, body: bytes) -> str:
        if not self._url:
            return ""
        headers = {"Content-Type": "application/json", "User-Agent": "evercrawl"}
        request = urllib.request.Request(self._url, body, headers, method="POST")
        try:
            with self._opener.open(request, timeout=URL_S):
                return ""
        except urllib.error.HTTPError as error:
            return f"the alert URL answered with status {error.code}"
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", error)
            return f"the alert URL cannot be reached: {type(why).__name__}"
