"""The server's in-memory replica of the crawl: a thread follows the journal and renews the view; requests read it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from evercrawl.ask.appointments import AppointmentBook
from evercrawl.ask.rank.site_states import of_site
from evercrawl.ask.search.search import Search
from evercrawl.config import Config
from evercrawl.errors import EvercrawlError, NotReadyError
from evercrawl.model.policy.lessons import Lessons
from evercrawl.model.standing import Standing
from evercrawl.model.stored.derived.derived import Derived, asked
from evercrawl.model.stored.follow import Follower
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View, settings
from evercrawl.serve.sharing import SharedLock
from evercrawl.store.disk.lock import holder
from evercrawl.store.journal.events import CHANGED, Event, Visit
from evercrawl.store.journal.segment import segments
from evercrawl.store.partition import Partition
from evercrawl.types import Outcome

T = TypeVar("T")

EVERY_S: Final = 0.1
"""Between two turns of the follower."""
VIEW_EVERY_S: Final = 1.0
LONG_BYTES: Final = 2 << 20
"""Of a journal: to read as much takes some tenths of a second."""
_RARE: Final = 32  # answers kept from one view to the next
_CATCH_UP_S: Final = 0.5
_POLL_S: Final = 0.002
_PATIENCE_S: Final = 2.0  # while derived files are being built
_NICE: Final = 10
_DRAWN: Final = 128  # pages whose next visits are predicted with each view
_HORIZON_S: Final = 3600.0
_SHARE: Final = 0.05  # maximum share of time spent on new views


class CrawlReplica:
    """A followed crawl directory.

    Any number of requests read concurrently in `reading`. New events are folded between reads, for a few milliseconds
    at a time; reopening a crawl and building views happen without blocking readers.

    Parameters
    ----------
    directory
        Of the crawl.
    told
        Called in the replica's thread with the number of new events, after each turn that had some.

    Attributes
    ----------
    trouble
        Why the directory cannot be followed now; "" if it can.
    behind_s
        Duration of the last turn with new events.

    Raises
    ------
    ConfigError
        There is no crawl.
    StoreError
        It is damaged.
    """

    def __init__(self, directory: Path, told: Callable[[int], None] = lambda _: None) -> None:
        self.directory = directory
        self.trouble = ""
        self.behind_s = 0.0
        self._told = told
        self._lock = SharedLock()
        self._book, self._booking, self._random = AppointmentBook(), threading.Lock(), np.random.default_rng()
        self._follower = Follower(directory, self._hear)
        self._openings = self._follower.openings
        self._lessons: Lessons | None = None
        self._view = self._made(self._follower.partition)
        self._keep_lessons(self._view)
        self._viewed: int = self._follower.sequence
        self._viewed_at, self._took_s = time.monotonic(), 0.0
        self._search: Search | None = None
        self._derived: Derived | None = None
        self._asking_search, self._asking_derived = threading.RLock(), threading.RLock()  # each has a single reader
        self._preparing = threading.Thread(target=self._prepare, name="derived", daemon=True)
        self._prepared = threading.Event()
        self._kept: dict[str, tuple[View, float, object]] = {}
        self._rare: dict[str, tuple[float, object]] = {}
        self._slow: dict[str, tuple[float, object]] = {}
        self._making: dict[str, threading.Lock] = {}
        self._turned_at = time.monotonic()
        self._stop, self._hurry = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="replica", daemon=True)

    def start(self) -> None:
        """Start following."""
        self._thread.start()
        self._preparing.start()

    def close(self) -> None:
        """Stop the thread and close the directory."""
        self._stop.set()
        self._hurry.set()
        if self._thread.is_alive():
            self._thread.join(10)
        if self._preparing.is_alive():
            self._preparing.join(10)
        with self._lock.writing():
            self._forget()
            self._follower.close()

    @property
    def sequence(self) -> int:
        """Number of events folded."""
        return self._follower.sequence

    @property
    def crawl(self) -> str:
        """The id of the crawl."""
        return self._follower.partition.birth.id

    @property
    def token(self) -> str:
        """The token for the part of the crawl that an answer given now is based on."""
        from evercrawl.serve import sequences  # imported late: it needs the server's libraries

        return sequences.written(self.crawl, self.sequence)

    def catch_up(self) -> None:
        """Return once the journal's present events are folded; waits only briefly for an unfinished write."""
        end, until = segments(self._follower.partition.disk)[-1].end, time.monotonic() + _CATCH_UP_S
        while self._follower.partition.journal.position < end and time.monotonic() < until:
            self._hurry.set()
            time.sleep(_POLL_S)

    @property
    def is_long(self) -> bool:
        """Whether reading the whole journal takes long."""
        return self._follower.partition.journal.position > LONG_BYTES

    @property
    def running(self) -> bool:
        """Whether a crawl is running in the directory."""
        return holder(self.directory) is not None

    @contextmanager
    def reading(self) -> Generator[View]:
        """Yield the newest view at the present instant; no events are folded while the context lasts."""
        with self._lock.reading():
            view = self._view
            view.now = max(time.time(), view.state.last_at())
            yield view

    @contextmanager
    def searching(self) -> Generator[Search]:
        """Yield the open search.

        Raises
        ------
        StoreError
            There is no index, or it is damaged.
        """
        with self._asking_search, self._lock.reading():
            if self._search is None:
                self._search = Search(self.directory, _Views(self))
            yield self._search

    @contextmanager
    def derived(self) -> Generator[tuple[View, Derived]]:
        """Yield the newest view, and the derived files up to its last event, while the context lasts.

        Raises
        ------
        NotReadyError
            They are being built, which takes a while the first time.
        StoreError
            The journal is damaged, or nothing can be written.
        """
        if not self._prepared.wait(_PATIENCE_S):
            raise NotReadyError("the history of this crawl is being read for the first time; ask again soon")
        with self._asking_derived, self.reading() as view:
            if self._derived is None:
                self._derived = self._new_derived()
            else:
                self._derived.follow()
            yield view, self._derived

    def _new_derived(self) -> Derived:
        """Return the derived files, built or opened."""
        made = Derived(self._follower.partition)
        try:
            return made.current()
        except BaseException:
            made.close()
            raise

    def _prepare(self) -> None:
        """Build the derived files in the background, so that no request waits for them."""
        try:
            if self.is_long:
                self._prepare_in_child()
            beside = opened(self.directory)
            try:
                asked(beside, lambda derived: derived.events)
            finally:
                beside.close()
        except EvercrawlError as error:
            self.trouble = str(error)
        self._prepared.set()

    def _forget(self) -> None:
        """Close everything made from a former state."""
        if self._search is not None:
            self._search.close()
            self._search = None
        if self._derived is not None:
            self._derived.close()
            self._derived = None

    def recent(self, after: int = -1, site: str = "") -> list[tuple[int, dict[str, object]]]:
        """Return the last visits, the oldest first: event number and visit as fields; optionally of one site."""
        with self._lock.reading():
            state = self._follower.partition.state
            kept = [(number, visit) for number, visit in self._follower.recent if number > after]
            if site:
                here = of_site(state, np.array([visit.host for _, visit in kept], np.uint32), site)
                kept = [each for each, wanted in zip(kept, here.tolist(), strict=True) if wanted]
            return [
                (number, {
                    "sequence": number, "at": visit.at, "url": state.urls.get(visit.slot),
                    "outcome": Outcome(visit.outcome).label, "first": visit.visits == 1,
                    "changed": bool(visit.flags & CHANGED), "bytes": visit.wire_bytes, "error": visit.error,
                })
                for number, visit in kept
            ]  # fmt: skip

    def once(self, name: str, make: Callable[[View], T], lasts_s: float = math.inf) -> T:
        """Return `make` of the newest view, computed once per view, and again once it is `lasts_s` old."""
        with self.reading() as view, self._making.setdefault(name, threading.Lock()):
            kept = self._kept.get(name)
            if kept is None or kept[0] is not view or not kept[1] <= view.now < kept[1] + lasts_s:
                kept = self._kept[name] = (view, view.now, make(view))
            return kept[2]  # type: ignore[return-value]

    def rarely(self, name: str, make: Callable[[View], T], lasts_s: float) -> T:
        """Return `make` of a view that was the newest at most `lasts_s` ago."""
        with self.reading() as view, self._making.setdefault(name, threading.Lock()):
            kept = self._rare.get(name)
            if kept is None or time.monotonic() > kept[0] + lasts_s:
                if len(self._rare) > _RARE:
                    self._rare.clear()
                kept = self._rare[name] = (time.monotonic(), make(view))
            return kept[1]  # type: ignore[return-value]

    def slowly(self, name: str, make: Callable[[View], T]) -> T:
        """Return a recent result of `make`, recomputed so rarely that it takes at most a twentieth of the time."""
        kept = self._slow.get(name)
        if kept is None or time.monotonic() > kept[0]:
            began = time.monotonic()
            with self.reading() as view, self._making.setdefault(name, threading.Lock()):
                made = make(view)
            now = time.monotonic()
            kept = self._slow[name] = (now + max(VIEW_EVERY_S, (now - began) / _SHARE), made)
        return kept[1]  # type: ignore[return-value]

    @property
    def lag_s(self) -> float:
        """Time since the journal was last fully folded."""
        return max(time.monotonic() - self._turned_at - EVERY_S, 0.0)

    @property
    def view(self) -> View:
        """The newest view, for callers that already read."""
        return self._view

    def _run(self) -> None:
        while not self._stop.is_set():
            self._hurry.wait(EVERY_S)
            self._hurry.clear()
            began = time.monotonic()
            try:
                taken = self._turn()
                self.trouble = ""
            except EvercrawlError as error:
                self.trouble, taken = str(error), 0
            except Exception as error:  # an internal error: the state may be partly folded
                self.trouble, taken = f"following the crawl failed ({error!r}); it is opened anew", 0
                self._follower.lose()
            if taken:
                self.behind_s = time.monotonic() - began
                self._told(taken)

    def _turn(self) -> int:
        """Fold new events, and renew the view if due."""
        taken = 0
        if self._follower.replaced():
            anew = opened(self.directory)
            view = self._made(anew)
            with self._lock.writing():
                before = self._follower.take(anew)
                self._show(view)
                before.close()
        while not self._stop.is_set():
            with self._lock.writing():
                count = self._follower.turn()
                if self._follower.openings != self._openings:  # which it could not handle
                    self._show(self._made(self._follower.partition))
                elif self._lessons is not None:
                    self._lessons.settle()
            taken += count
            if not count:
                self._turned_at = time.monotonic()
                break
        due = self._viewed_at + max(VIEW_EVERY_S, self._took_s / _SHARE)
        if self._follower.sequence != self._viewed and time.monotonic() >= due:
            began = time.monotonic()
            made = self._made(self._follower.partition, self._lessons)
            with self._lock.writing():
                self._show(made)
            self._announce(made)  # while others read: no event is folded meanwhile, because this thread does that
            self._took_s = time.monotonic() - began
        return taken

    def _show(self, view: View) -> None:
        """Make a view the current one; called without readers."""
        self._view, self._viewed, self._viewed_at = view, self._follower.sequence, time.monotonic()
        self._kept.clear()
        self._keep_lessons(view)
        if self._follower.openings != self._openings:
            self._openings = self._follower.openings
            self._rare.clear()
            self._slow.clear()
            self._forget()

    def appointment(self, view: View, slot: int) -> dict[str, Any]:
        """Return the predicted next visit of a page, with its interval."""
        due_at = float(view.due_at(view.candidates(np.array([slot], np.uint32)))[0])
        with self._booking:
            shown = self._book.shown()
            if not math.isfinite(due_at):
                return {"due_at": None, "low_at": None, "high_at": None, **shown}
            self._book.announce(slot, view.now, due_at)
            due_at, low, high = self._book.interval(view.now, due_at)
        known = not math.isnan(low)
        return {"due_at": due_at, "low_at": low if known else None, "high_at": high if known else None, **shown}

    def appointments(self) -> dict[str, float | int | None]:
        """Return how accurate the predictions of visits were."""
        with self._booking:
            return self._book.shown()

    def _announce(self, view: View) -> None:
        """Predict visits of randomly sampled pages, so that intervals are learned."""
        rows = view.state.records.rows
        count = view.state.records.count
        if not count or self._follower.partition.state is not view.state:
            return
        drawn = np.unique(self._random.integers(0, count, _DRAWN))
        slots = rows["slot"][drawn].astype(np.uint32)
        now = time.time()
        due_at = view.due_at(view.candidates(slots))
        with self._booking:
            for slot, due in zip(slots.tolist(), due_at.tolist(), strict=True):
                if math.isfinite(due) and now < due <= now + _HORIZON_S and not self._book.waiting(slot):
                    self._book.announce(slot, now, due)

    def _hear(self, event: Event) -> None:
        """Feed an event to the policy: reading all since the last snapshot for each view would take seconds."""
        if self._lessons is not None:
            self._lessons.follow(event)
        if isinstance(event, Visit):
            with self._booking:
                self._book.came(event.slot, event.at)

    def _keep_lessons(self, view: View) -> None:
        self._lessons = view.lessons if view.lessons is not None and view.lessons.recalled else None

    def _made(self, partition: Partition, lessons: Lessons | None = None) -> View:
        """Return a view with its expensive parts computed: the policy's lessons, and importance.

        Lessons are reused as long as the settings that determine them stay the same.
        """
        config = settings(self.directory)[0]
        if lessons is not None and _learning(config) != _learning(self._view.config):
            lessons = None
        view = View(partition, config, time.time(), lessons)
        _ = view.believing, view.importance
        Standing(view)
        return view

    def _prepare_in_child(self) -> None:
        """Have a low-priority process read a long journal: in this one it would slow everything else down."""
        words = ["changes", "--since", "1s", "--limit", "1", "--json", "--dir", str(self.directory)]
        child = subprocess.Popen(
            [sys.executable, "-m", "evercrawl", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=lambda: os.nice(_NICE) and None,
        )  # fmt: skip
        while child.poll() is None:
            if self._stop.wait(EVERY_S):
                child.kill()
                child.wait()


def _learning(config: Config) -> tuple[object, ...]:
    """Return the settings that a policy's lessons depend on."""
    return config.policy, config.policy_options, config.delay_s


class _Views:
    """Gives the search the replica's views, without closing the replica."""

    def __init__(self, replica: CrawlReplica) -> None:
        self._replica = replica

    def newest(self, *, stale: bool) -> View:
        """Return the newest view."""
        return self._replica.view

    def close(self) -> None:
        """Do nothing."""
