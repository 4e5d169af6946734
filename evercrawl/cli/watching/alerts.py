"""Alerts about a running crawl, raised from its progress at a limited rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from evercrawl.cli.show.json_line import json_line
from evercrawl.config.secrets import masked

if TYPE_CHECKING:
    from evercrawl.progress import Progress, Summary

KINDS: Final = {
    "disk_full": "fetching has stopped because the disk is full",
    "memory_short": "nothing new is read because memory is short",
    "names": "no name server answers",
    "freshness": "copies are less fresh than --min-freshness asks for",
    "set_aside": "evercrawl's own code failed on a page or an event",
    "failed": "the run ended by an error",
    "ended": "the run ended",
}
"""Every kind of alert, and its meaning."""


class Alerts:
    """Monitors the progress of a run and sends alerts to the hook.

    A lasting condition is raised once and cleared once. Each kind of alert is raised at most once per `every_s`; the
    next one says how many were suppressed.

    Parameters
    ----------
    hook
        Receives each alert, as a line of JSON.
    directory
        The crawl directory, named in alerts.
    every_s
        Minimum time between two alerts of a kind.
    min_fresh
        Minimum share of fresh copies; 0 for none.
    clock
        Tells the time, in seconds since the epoch.
    """

    def __init__(
        self,
        hook: Callable[[str], None],
        directory: str,
        *,
        every_s: float,
        min_fresh: float,
        clock: Callable[[], float],
    ) -> None:
        self._hook, self._directory, self._every_s, self._min_fresh = hook, directory, every_s, min_fresh
        self._clock = clock
        self._raised = set[str]()
        self._told_at = dict[str, float]()
        self._left_out = Counter[str]()
        self._last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Check the state of the crawl."""
        if progress.alert:
            self._raise(progress.alert, progress.at, progress.message)
        if not (progress.elapsed_s or progress.outcomes):
            return
        self._last = progress
        fresh = progress.fresh if progress.fresh is not None else 1.0
        self._judge("disk_full", progress.disk_full, progress, progress.message)
        self._judge("memory_short", progress.memory_short, progress, progress.message)
        self._judge("names", bool(progress.names_trouble), progress, progress.names_trouble)
        less = f"of copies drawn at random {fresh:.0%} were found unchanged, and {self._min_fresh:.0%} are wanted"
        self._judge("freshness", fresh < self._min_fresh, progress, less)

    def finish(self, summary: Summary | None) -> None:
        """Send the alert that the run has ended."""
        reason = "cut short" if summary is None else summary.reason
        self._send("ended", "raised", self._clock(), f"the run ended: {reason}")

    def failed(self, error: BaseException) -> None:
        """Send the alert that the run ended with an error."""
        self._send("failed", "raised", self._clock(), f"{type(error).__name__}: {error}")

    def _judge(self, kind: str, holds: bool, progress: Progress, message: str) -> None:
        if holds and kind not in self._raised:
            if self._raise(kind, progress.at, message or KINDS[kind]):
                self._raised.add(kind)
        elif not holds and kind in self._raised:
            self._raised.discard(kind)
            self._send(kind, "cleared", progress.at, f"no more: {KINDS[kind]}")

    def _raise(self, kind: str, at: float, message: str) -> bool:
        if at - self._told_at.get(kind, float("-inf")) < self._every_s:
            self._left_out[kind] += 1
            return False
        self._told_at[kind] = at
        self._send(kind, "raised", at, message)
        return True

    def _send(self, kind: str, state: str, at: float, message: str) -> None:
        assert kind in KINDS, "documented"
        last = self._last
        self._hook(masked(json_line("alert", {
            "kind": kind, "state": state, "at": at, "directory": self._directory, "message": message,
            "left_out": self._left_out.pop(kind, 0), "known": last.known if last else None,
            "visits": last.visits if last else None,
        })))  # fmt: skip
