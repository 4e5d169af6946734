"""Alerts about a running crawl, raised from its progress at a limited rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from evercrawl.cli.show.json_line import json_line
from evercrawl.config.secrets import masked
from evercrawl.errors import EvercrawlError
from evercrawl.progress import PartHealth

if TYPE_CHECKING:
    from evercrawl.progress import Progress, Summary

KINDS: Final = {
    "disk_full": "fetching has stopped because the disk is full",
    "memory_short": "nothing new is read because memory is short",
    "names": "no name server answers",
    "freshness": "copies are less fresh than --min-freshness asks for",
    "set_aside": "evercrawl's own code failed on a page or an event",
    "failed": "the run ended with an error, or a partition cannot be opened",
    "ended": "the run ended",
}
"""Every kind of alert, and its meaning."""


class Alerts:
    """Monitors the progress of a run and sends alerts to the hook.

    A lasting condition is raised once and cleared once. Each kind of alert is raised at most once per `every_s`; the
    next one says how many were suppressed. Of a crawl in partitions, that holds for each machine; alerts name the
    partitions, and one that has a condition later than the others of its machine raises it again.

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
        self._raised = dict[tuple[str, str], frozenset[int]]()  # kind and machine -> partitions
        self._told_at = dict[tuple[str, str], float]()
        self._left_out = Counter[tuple[str, str]]()
        self._late = set[tuple[str, str]]()  # conditions to be raised once the interval has passed
        self._last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Check the state of the crawl."""
        if progress.alert:
            machine = progress.partitions[0].machine if progress.partitions else ""
            if not self._raise(progress.alert, machine, progress.at, progress.message, progress.partitions):
                self._left_out[progress.alert, machine] += 1
        if not (progress.elapsed_s or progress.outcomes):
            return
        self._last = progress
        if not progress.partitions:
            self._look([progress], "", progress.at)
            return
        for machine in sorted({part.machine for part in progress.partitions} | {where for _, where in self._raised}):
            self._look([part for part in progress.partitions if part.machine == machine], machine, progress.at)

    def finish(self, summary: Summary | None) -> None:
        """Send the alert that the run has ended."""
        reason = "cut short" if summary is None else summary.reason
        self._send("ended", "", "raised", self._clock(), f"the run ended: {reason}", {})

    def failed(self, error: BaseException) -> None:
        """Send the alert that the run ended with an error."""
        where = dict[str, Any]()
        if isinstance(error, EvercrawlError) and error.partition is not None:
            where = {"partition": error.partition, "machine": error.machine, "partitions": [error.partition]}
        self._send("failed", "", "raised", self._clock(), f"{type(error).__name__}: {error}", where)

    def _look(self, crawls: Sequence[Progress | PartHealth], machine: str, at: float) -> None:
        """Judge a crawl, or its partitions on one machine."""
        least = self._min_fresh
        self._judge("disk_full", machine, at, [(each, each.message) for each in crawls if each.disk_full])
        self._judge("memory_short", machine, at, [(each, each.message) for each in crawls if each.memory_short])
        self._judge("names", machine, at, [(each, each.names_trouble) for each in crawls if each.names_trouble])
        self._judge("freshness", machine, at, [
            (each, f"of copies drawn at random {fresh:.0%} were found unchanged, and {least:.0%} are wanted")
            for each in crawls
            if (fresh := 1.0 if each.fresh is None else each.fresh) < least
        ])  # fmt: skip

    def _judge(self, kind: str, machine: str, at: float, found: Sequence[tuple[Progress | PartHealth, str]]) -> None:
        """Raise a condition that some partitions of a machine have, or clear it once none has it."""
        parts, key = [part for part, _ in found if isinstance(part, PartHealth)], (kind, machine)
        numbers = frozenset(part.number for part in parts)
        if found and (key not in self._raised or numbers - self._raised[key]):
            new = [part for part in parts if part.number not in self._raised.get(key, ())]
            others = [part for part in parts if part not in new]
            message = next(said for part, said in found if not new or part is new[0])
            if self._raise(kind, machine, at, message or KINDS[kind], [*new, *others]):
                self._raised[key] = numbers
                self._late.discard(key)
            elif key not in self._late:
                self._late.add(key)
                self._left_out[key] += 1
        elif found:
            self._raised[key] = self._raised[key] & numbers
        else:
            self._late.discard(key)
            if (before := self._raised.pop(key, None)) is not None:
                where = {"partition": min(before), "machine": machine, "partitions": sorted(before)} if before else {}
                self._send(kind, machine, "cleared", at, f"no more: {KINDS[kind]}", where)

    def _raise(self, kind: str, machine: str, at: float, message: str, parts: Sequence[PartHealth]) -> bool:
        """Send an alert, unless one of its kind was sent for its machine recently; return whether it was sent.

        The alert names the first of `parts`.
        """
        key = kind, machine
        if at - self._told_at.get(key, float("-inf")) < self._every_s:
            return False
        self._told_at[key] = at
        numbers = [part.number for part in parts]
        where = {"partition": numbers[0], "machine": machine, "partitions": sorted(numbers)} if numbers else {}
        self._send(kind, machine, "raised", at, message, where)
        return True

    def _send(self, kind: str, machine: str, state: str, at: float, message: str, where: Mapping[str, Any]) -> None:
        assert kind in KINDS, "documented"
        last = self._last
        self._hook(masked(json_line("alert", {
            "kind": kind, "state": state, "at": at, "directory": self._directory, "message": message,
            "left_out": self._left_out.pop((kind, machine), 0), "known": last.known if last else None,
            "visits": last.visits if last else None, **where,
        })))  # fmt: skip
