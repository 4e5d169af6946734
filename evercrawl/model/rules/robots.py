"""robots.txt of every origin: asked for before the first page, kept for a day at most, also across restarts."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evercrawl.fetch.robots import MAX_ROBOTS_BYTES, Robots, Rules
from evercrawl.fetch.robots_policy import DEFAULT_FRESH_S, MIN_FRESH_S, ROBOTS_REDIRECTS, fresh_s, verdict
from evercrawl.model.rules import cache_file
from evercrawl.parse.urls import normalise
from evercrawl.types import Exchange, Request

ROBOTS_FILE: Final = "robots.sqlite"
MOST_DELAY_S: Final = 300.0  # a longer Crawl-delay is taken for this
RETRY_MOST_S: Final = 3600.0
MOST_HELD_BYTES: Final = 32 << 20  # of files whose rules are in memory, where they take four to thirteen times the room
_CLOSED: Final = "disallow_all"  # kept for people to see; the next start asks again
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS robots (
    origin TEXT PRIMARY KEY, verdict TEXT NOT NULL, body BLOB NOT NULL, expires_at REAL NOT NULL
) WITHOUT ROWID
"""


@dataclass(slots=True)
class OriginRules:
    """What one origin (scheme, host, port) lets us do.

    Attributes
    ----------
    rules
        For our product token; None lets everything or nothing pass, by `open`.
    open
        Whether anything may be fetched.
    expires_at
        Ask again after that.
    delay_s
        Crawl-delay, None where there is none.
    failures
        Answers in a row that closed the site (5xx, no answer).
    reason
        What the last of them was, class first; "" where the file, or that there is none, is known.
    sitemaps
        Those that the file names.
    size_bytes
        Of the file.
    """

    rules: Rules | None = None
    open: bool = True
    expires_at: float = 0.0
    delay_s: float | None = None
    failures: int = 0
    reason: str = ""
    sitemaps: tuple[str, ...] = ()
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class RobotsTag:
    """Says that an exchange asks for an origin's robots.txt, after `hops` redirects."""

    origin: str
    hops: int = 0


class RobotsKeeper:
    """The rules of every origin met, and a cache of them in SQLite.

    Parameters
    ----------
    path
        SQLite file; ":memory:" keeps nothing.
    agent
        Our product token.
    deadline_s
        Bound on one request for robots.txt.
    """

    def __init__(self, path: str, agent: str, deadline_s: float) -> None:
        self._agent = agent
        self._deadline_s = deadline_s
        self._of: dict[str, OriginRules] = {}
        self._sizes: dict[str, int] = {}  # of the files whose rules are in memory, those held longest first
        self._held_bytes = 0
        self._cache = cache_file.opened(path, _SCHEMA, "SELECT origin, body, expires_at FROM robots LIMIT 1")

    def of(self, origin: str, now: float) -> OriginRules | None:
        """Return the rules that hold at `now`; None when they have to be asked for."""
        known = self._of.get(origin)
        if known is None:
            known = self._recall(origin, now)
            if known is None:
                return None
            self._hold(origin, known)
        return known if known.expires_at > now else None

    def last(self, origin: str) -> OriginRules:
        """Return the rules of an origin that were last learned in this run, whether they still hold or not."""
        return self._of.get(origin) or OriginRules()

    def request(self, origin: str, url: str = "", hops: int = 0) -> Request:
        """Return the request for an origin's robots.txt, or for where it has moved to."""
        return Request(
            url or f"{origin}/robots.txt",
            RobotsTag(origin, hops),
            max_wire_bytes=MAX_ROBOTS_BYTES,
            max_body_bytes=MAX_ROBOTS_BYTES,
            deadline_s=self._deadline_s,
        )

    def moved(self, exchange: Exchange) -> Request | None:
        """Return the request for where the answer says the file is; None where it says nothing of the kind."""
        tag = exchange.request.tag
        assert isinstance(tag, RobotsTag)
        if exchange.status not in _REDIRECTS or tag.hops >= ROBOTS_REDIRECTS:
            return None
        location = exchange.headers.get("location", "")
        target = normalise(location, exchange.request.url) if location else None
        return self.request(tag.origin, target, tag.hops + 1) if target else None

    def learn(self, exchange: Exchange, now: float) -> OriginRules:
        """Take in the final answer and return the rules that hold from now on."""
        tag = exchange.request.tag
        assert isinstance(tag, RobotsTag)
        error = exchange.error
        if (exchange.truncated and len(exchange.body) >= MAX_ROBOTS_BYTES) or len(exchange.wire) >= MAX_ROBOTS_BYTES:
            error = ""  # our own cap: the first part is read
        elif exchange.truncated:
            error = error or "truncated"
        what = verdict(exchange.status, error)
        before = self._of.get(tag.origin)
        if what == _CLOSED:
            failures = before.failures + 1 if before else 1
            wait_s = min(MIN_FRESH_S * 2.0 ** (failures - 1), RETRY_MOST_S)
            reason = (
                f"{error}: {exchange.detail}" if error and exchange.detail else error or f"status: {exchange.status}"
            )
            rules = OriginRules(open=False, expires_at=now + wait_s, failures=failures, reason=reason)
            self._remember(tag.origin, _CLOSED, reason.encode(), rules.expires_at)
        else:
            body = exchange.body[:MAX_ROBOTS_BYTES] if what == "parse" else b""
            keep_s = fresh_s(exchange.headers.get("cache-control", "")) if what == "parse" else DEFAULT_FRESH_S
            rules = self._parsed(body, now + keep_s)
            self._remember(tag.origin, what, body, rules.expires_at)
        self._hold(tag.origin, rules)
        return rules

    def close(self) -> None:
        """Close the cache."""
        self._cache.close()

    def _hold(self, origin: str, rules: OriginRules) -> None:
        """Keep rules in memory; those held longest make room, and come from the cache when they are next wanted."""
        self._of[origin] = rules
        self._held_bytes += rules.size_bytes - self._sizes.pop(origin, 0)
        if rules.size_bytes:
            self._sizes[origin] = rules.size_bytes
        while self._held_bytes > MOST_HELD_BYTES:
            oldest = next(iter(self._sizes))
            self._held_bytes -= self._sizes.pop(oldest)
            del self._of[oldest]

    def _parsed(self, body: bytes, expires_at: float) -> OriginRules:
        robots = Robots(body)
        delay_s = robots.crawl_delay_s(self._agent)
        return OriginRules(
            robots.rules(self._agent),
            expires_at=expires_at,
            delay_s=min(delay_s, MOST_DELAY_S) if delay_s is not None else None,
            sitemaps=robots.sitemaps,
            size_bytes=len(body),
        )

    def _recall(self, origin: str, now: float) -> OriginRules | None:
        try:
            asked = "SELECT body, expires_at FROM robots WHERE origin = ? AND verdict != ?"
            row = self._cache.execute(asked, (origin, _CLOSED)).fetchone()
        except sqlite3.Error:
            return None  # a cache: what it does not say is asked for again
        if row is None:
            return None
        body, expires_at = row
        if expires_at > now + DEFAULT_FRESH_S:  # nothing is kept for so long: the clock was set back
            return None
        return self._parsed(body, expires_at)

    def _remember(self, origin: str, what: str, body: bytes, expires_at: float) -> None:
        try:
            self._cache.execute("REPLACE INTO robots VALUES (?, ?, ?, ?)", (origin, what, body, expires_at))
        except sqlite3.Error:
            return  # no room, say: the rules hold in memory all the same


def unreachable(path: Path) -> dict[str, str]:
    """Return the origins in a crawl's cache whose robots.txt could not be fetched, and why; {} if it cannot say."""
    rows = cache_file.read(path, "SELECT origin, body FROM robots WHERE verdict = ? ORDER BY origin", _CLOSED)
    return {origin: bytes(body).decode(errors="replace") for origin, body in rows}


def stored(path: Path, origin: str) -> tuple[bytes, float] | None:
    """Return the robots.txt of an origin in a crawl's cache, and until when it holds; None where there is none."""
    rows = cache_file.read(
        path, "SELECT body, expires_at FROM robots WHERE origin = ? AND verdict != ?", origin, _CLOSED
    )
    return next(((bytes(body), float(expires_at)) for body, expires_at in rows), None)
