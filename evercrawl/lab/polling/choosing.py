"""Selection of the next page: by valuing all pages, or through the crawl's own frontier."""

from abc import ABC, abstractmethod
from typing import Final, Protocol

import numpy as np

from evercrawl.schedule.abilities import Follows
from evercrawl.schedule.base import Policy, Surroundings
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats, Ints, Slots

_WHOLE: Final = 1e-9  # tolerance for rounding when tokens are counted


class Held(Protocol):
    """The polling state of pages.

    Attributes
    ----------
    visited_at
        Time of each page's last visit, nan for never, shape (n,).
    surroundings
        The policies' inputs besides columns.
    """

    visited_at: Floats
    surroundings: Surroundings

    def columns(self, slots: Slots | Ints | None) -> Pages:
        """Return the policy's columns of some pages, or of all (None)."""
        ...


class Chooser(ABC):
    """Selects the pages to visit next."""

    def look(self, until: float) -> None:
        """Value all pages; until the next look, at `until`, the chooser may consider only the most promising."""
        return

    @abstractmethod
    def choose(self, now: float, most: int) -> Ints:
        """Return up to `most` distinct pages to visit at `now`, best first."""

    def visited(self, rows: Ints, now: float) -> None:
        """Take back pages that were visited."""
        return


class Exhaustive(Chooser):
    """A chooser that values all pages, keeps the most promising, and takes the best of these at each choice.

    Parameters
    ----------
    policy, held
        The policy, and its input.
    kept
        Number of pages of each kind, new and visited, that are kept between two looks; 0 for all.
    """

    def __init__(self, policy: Policy, held: Held, kept: int) -> None:
        self._policy, self._held, self._visited_at, self._kept = policy, held, held.visited_at, kept
        self._pool: Slots | None = None

    def look(self, until: float) -> None:
        """Keep the new pages and the visited pages whose values will be highest at `until`.

        The values at `until` count, because a page visited a moment ago may be due again before the next look.
        """
        if self._kept and 2 * self._kept < len(self._visited_at):
            values, new = self._values(None, until), np.isnan(self._visited_at)
            kinds = [np.flatnonzero(new), np.flatnonzero(~new)]
            pool = np.concatenate([rows[best(values[rows], self._kept)] for rows in kinds])
            self._pool = pool.astype(np.uint32)

    def choose(self, now: float, most: int) -> Ints:
        """Return the pages of highest value, none below the policy's least."""
        pool, values = self._pool, self._values(self._pool, now)
        places = self._best(values, now, most)
        places = places[values[places] >= self._policy.min_value]
        rows = places if pool is None else pool[places].astype(np.int64)
        if len(rows) and isinstance(self._policy, Follows):
            fresh = int(np.isnan(self._visited_at[rows]).sum())
            known = len(self._visited_at) - int(np.isnan(self._visited_at).sum()) + fresh
            self._policy.chosen(values[places], self._held.surroundings(now, known), fresh)
        return rows

    def _best(self, values: Floats, now: float, most: int) -> Ints:
        return best(values, most)

    def _values(self, slots: Slots | None, now: float) -> Floats:
        values = np.ascontiguousarray(
            self._policy.value(self._held.columns(slots), self._held.surroundings(now)), np.float64
        )
        assert np.isfinite(values).all(), "a policy values every page"
        return values


class Capped(Exhaustive):
    """A chooser that values all pages at each choice, and takes the best that their hosts allow.

    Parameters
    ----------
    policy, held
        As for `Exhaustive`.
    host, cap_per_s
        Number of each page's host, and the visits per second that each host allows.
    saved_s
        Capacity of a host's token bucket, as the time in which it fills.
    """

    def __init__(self, policy: Policy, held: Held, host: Ints, cap_per_s: Floats, saved_s: float) -> None:
        super().__init__(policy, held, 0)
        self._host, self._cap_per_s = host, cap_per_s
        self._room = np.maximum(cap_per_s * saved_s, 1.0)
        self._tokens, self._at = self._room.copy(), float("nan")

    def _best(self, values: Floats, now: float, most: int) -> Ints:
        """Return the best pages that hosts allow: from each host at most as many as it has tokens."""
        passed_s = 0.0 if np.isnan(self._at) else now - self._at
        self._at = now
        self._tokens = np.minimum(self._tokens + self._cap_per_s * passed_s, self._room)
        order = np.argsort(-values, kind="stable")
        hosts = self._host[order]
        by_host = np.argsort(hosts, kind="stable")
        starts = np.searchsorted(hosts[by_host], np.arange(len(self._room)))
        place = np.empty(len(order), np.int64)
        place[by_host] = np.arange(len(order)) - starts[hosts[by_host]]
        rows = order[place < np.floor(self._tokens[hosts] + _WHOLE)][:most]
        self._tokens -= np.bincount(self._host[rows], minlength=len(self._tokens))
        return rows


class ThroughFrontier(Chooser):
    """A chooser that uses the crawl's frontier, in which each host offers some of its pages.

    Parameters
    ----------
    policy, held
        As for `Exhaustive`.
    host, delay_s
        Number of each page's host, and each host's delay after a visit; None for a single host without delay.
    """

    def __init__(
        self,
        policy: Policy,
        held: Held,
        host: Ints | None = None,
        delay_s: Floats | None = None,
    ) -> None:
        visited_at = held.visited_at
        n = len(visited_at)
        self._host = np.zeros(n, np.int64) if host is None else host
        self._frontier = Frontier(
            policy, held.columns, lambda slot: float(visited_at[slot]), refresh_after_s=0.0,
            surroundings=held.surroundings,
        )  # fmt: skip
        for number in range(int(self._host.max()) + 1):
            self._frontier.add_host(f"h{number}").delay_s = 0.0 if delay_s is None else float(delay_s[number])
        for slot, number in enumerate(self._host.tolist()):
            self._frontier.add_new(number, (slot,))

    def choose(self, now: float, most: int) -> Ints:
        """Return the pages that the frontier offers; with a single host, it offers one page at a time."""
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
        """Add visited pages to the frontier for their refresh."""
        for slot in rows.tolist():
            self._frontier.add_seen(int(self._host[slot]), slot, visited_at=now)


def best(values: Floats, most: int) -> Ints:
    """Return the indices of the highest values, highest first; among equal values, earlier ones come first.

    >>> best(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 2]
    """
    if most >= len(values):
        return np.argsort(-values, kind="stable")
    rows = np.argpartition(values, len(values) - most)[len(values) - most :]
    return np.asarray(rows[np.lexsort((rows, -values[rows]))])
