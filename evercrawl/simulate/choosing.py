"""Two ways to find the page that a policy wants next: value all there are, or let the crawl's own frontier offer some."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

import numpy as np

from evercrawl.schedule.frontier import Frontier

if TYPE_CHECKING:
    from evercrawl.schedule.base import Pages, Policy
    from evercrawl.types import Floats, Ints, Slots


class Columns(Protocol):
    """Gathers what the policy is told of pages; of all of them for None."""

    def __call__(self, slots: Slots | None) -> Pages:
        """Return the columns."""
        ...


class Chooser(ABC):
    """Finds the pages to visit next."""

    @abstractmethod
    def choose(self, now: float, most: int) -> Ints:
        """Return up to `most` pages to visit at `now`, the best first, no page twice."""

    def visited(self, rows: Ints, now: float) -> None:
        """Take pages back that were visited."""
        return


class Exhaustive(Chooser):
    """Values all pages, and takes the best.

    Parameters
    ----------
    policy, columns
        Who values, and what it is told.
    host, cap_per_s
        Visits a second that each host allows at most; None for as many as there are. What a host does not use it may
        save up for `saved_s`.
    """

    def __init__(
        self, policy: Policy, columns: Columns, host: Ints, cap_per_s: Floats | None = None, saved_s: float = 0.0
    ) -> None:
        self._policy, self._columns, self._host = policy, columns, host
        self._cap_per_s = cap_per_s
        if cap_per_s is not None:
            self._room = np.maximum(cap_per_s * saved_s, 1.0)
            self._tokens, self._at = self._room.copy(), float("nan")

    def choose(self, now: float, most: int) -> Ints:
        """Return the pages of highest value, none below the policy's least."""
        pages = self._columns(None)
        values = np.ascontiguousarray(self._policy.value(pages, now), np.float64)
        assert np.isfinite(values).all(), "a policy values every page"
        rows = _best(values, most) if self._cap_per_s is None else self._allowed(values, now, most)
        rows = rows[values[rows] >= self._policy.least]
        if len(rows):
            new = np.isnan(pages.visited_at)
            fresh = int(new[rows].sum())
            self._policy.chosen(values[rows], now, len(new) - int(new.sum()) + fresh, fresh)
        return rows

    def _allowed(self, values: Floats, now: float, most: int) -> Ints:
        """Return the best that hosts allow; a host's tokens are counted down along the order of values."""
        assert self._cap_per_s is not None
        passed_s = 0.0 if np.isnan(self._at) else now - self._at
        self._at = now
        self._tokens = np.minimum(self._tokens + self._cap_per_s * passed_s, self._room)
        order = np.argsort(-values, kind="stable")
        hosts = self._host[order]
        by_host = np.argsort(hosts, kind="stable")
        starts = np.searchsorted(hosts[by_host], np.arange(len(self._room)))
        place = np.empty(len(order), np.int64)
        place[by_host] = np.arange(len(order)) - starts[hosts[by_host]]
        rows = order[place < np.floor(self._tokens[hosts] + 1e-9)][:most]
        self._tokens -= np.bincount(self._host[rows], minlength=len(self._tokens))
        return rows


class ThroughFrontier(Chooser):
    """Asks the frontier, as a crawl does: each host offers some of its pages.

    Parameters
    ----------
    policy, columns
        As for `Exhaustive`.
    visited_at
        When each page was last visited, shape (n,).
    host, delay_s
        Number of each page's host, and how long each rests after a visit; None for one host that never does.
    """

    def __init__(
        self,
        policy: Policy,
        columns: Columns,
        visited_at: Floats,
        host: Ints | None = None,
        delay_s: Floats | None = None,
    ) -> None:
        n = len(visited_at)
        self._host = np.zeros(n, np.int64) if host is None else host
        self._frontier = Frontier(policy, columns, lambda slot: float(visited_at[slot]), refresh_after_s=0.0)
        for number in range(int(self._host.max()) + 1):
            self._frontier.add_host(f"h{number}").delay_s = 0.0 if delay_s is None else float(delay_s[number])
        for slot, number in enumerate(self._host.tolist()):
            self._frontier.add_new(number, (slot,))
        self._chosen: dict[int, int] = {}

    def choose(self, now: float, most: int) -> Ints:
        """Return what the frontier offers; where one host is all there is, page by page."""
        rows = list[int]()
        while len(rows) < most:
            chosen = self._frontier.choose(now, most - len(rows))
            if not chosen:
                break
            for host, slot, _ in chosen:
                self._frontier.began(host, now)
                self._frontier.ended(host, now)
                rows.append(slot)
        return np.array(rows, np.int64)

    def visited(self, rows: Ints, now: float) -> None:
        """Let pages wait for their refresh."""
        for slot in rows.tolist():
            self._frontier.add_seen(int(self._host[slot]), slot, visited_at=now)


def _best(values: Floats, most: int) -> Ints:
    if most >= len(values):
        return np.argsort(-values, kind="stable")
    rows = np.argpartition(values, len(values) - most)[len(values) - most :]
    return rows[np.lexsort((rows, -values[rows]))]
