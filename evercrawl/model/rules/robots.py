"""robots.txt of every origin: asked for before the first page, kept for a day at most, also across restarts."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from evercrawl.fetch.robots import MAX_ROBOTS_BYTES, Robots, Rules
from evercrawl.fetch.robots_policy import DEFAULT_FRESH_S, MIN_FRESH_S, ROBOTS_REDIRECTS, fresh_s, verdict
from evercrawl.model.rules.robots_file import CLOSED, MOST_BYTES, RobotsFile, RobotsRow
from evercrawl.parse.urls import normalise
from evercrawl.types import Exchange, Request

MOST_DELAY_S: Final = 300.0  # a longer Crawl-delay is taken for this
RETRY_MOST_S: Final = 3600.0
MOST_HELD_BYTES: Final = 32 << 20  # of files whose rules are in memory, where they take four to thirteen times the room
HELD_S: Final = 120.0  # for which the rules of an origin are in memory that nobody asks about
ENTRY_BYTES: Final = 512  # that they take beside the file
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


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
    used_at
        When somebody asked last.
    optouts
        What the file asks of those who train models, as bits of `OptOut`.
    """

    rules: Rules | None = None
    open: bool = True
    expires_at: float = 0.0
    delay_s: float | None = None
    failures: int = 0
    reason: str = ""
    sitemaps: tuple[str, ...] = ()
    size_bytes: int = 0
    used_at: float = 0.0
    optouts: int = 0


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
    most_bytes
        Of the cache, as in `RobotsFile`.
    """

    def __init__(self, path: str, agent: str, deadline_s: float, most_bytes: int = MOST_BYTES) -> None:
        self._agent = agent
        self._deadline_s = deadline_s
        self._of: OrderedDict[str, OriginRules] = OrderedDict()  # those that were asked about last stand last
        self._held_bytes = 0
        self._file = RobotsFile(path, most_bytes)

    @property
    def held(self) -> int:
        """How many origins have their rules in memory."""
        return len(self._of)

    def of(self, origin: str, now: float) -> OriginRules | None:
        """Return the rules that hold at `now`; None when they have to be asked for."""
        known = self._of.get(origin)
        if known is None:
            known = self._recall(origin, now)
            if known is None:
                return None
            self._hold(origin, known, now)
        else:
            self._of.move_to_end(origin)
            known.used_at = now
        return known if known.expires_at > now else None

    def last(self, origin: str) -> OriginRules:
        """Return the rules of an origin that were last learned in this run, whether they still hold or not."""
        return self._of.get(origin) or self._failed(origin) or OriginRules()

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

    def learn(self, exchange: Exchange, now: float, age_s: float = 0.0) -> OriginRules:
        """Take in the final answer, which was given so long ago, and return the rules that apply from now on."""
        tag = exchange.request.tag
        assert isinstance(tag, RobotsTag)
        error = exchange.error
        if (exchange.truncated and len(exchange.body) >= MAX_ROBOTS_BYTES) or len(exchange.wire) >= MAX_ROBOTS_BYTES:
            error = ""  # our own cap: the first part is read
        elif exchange.truncated:
            error = error or "truncated"
        what = verdict(exchange.status, error)
        before = self.last(tag.origin)
        if what == CLOSED:
            failures = before.failures + 1
            wait_s = min(MIN_FRESH_S * 2.0 ** (failures - 1), RETRY_MOST_S)
            reason = (
                f"{error}: {exchange.detail}" if error and exchange.detail else error or f"status: {exchange.status}"
            )
            rules = OriginRules(open=False, expires_at=now + wait_s, failures=failures, reason=reason)
            self._file.put(tag.origin, RobotsRow(CLOSED, reason.encode(), rules.expires_at, failures))
        else:
            body = exchange.body[:MAX_ROBOTS_BYTES] if what == "parse" else b""
            keep_s = fresh_s(exchange.headers.get("cache-control", "")) if what == "parse" else DEFAULT_FRESH_S
            rules = self._parsed(body, now + keep_s - age_s)
            self._file.put(tag.origin, RobotsRow(what, body, rules.expires_at))
        self._hold(tag.origin, rules, now)
        return rules

    def close(self) -> None:
        """Close the cache."""
        self._file.close()

    def _hold(self, origin: str, rules: OriginRules, now: float) -> None:
        """Keep rules in memory; those that nobody asks about make room, and come from the cache when wanted."""
        self._forget(origin)
        self._of[origin], rules.used_at = rules, now
        self._held_bytes += rules.size_bytes + ENTRY_BYTES
        while self._held_bytes > MOST_HELD_BYTES or self._of[next(iter(self._of))].used_at < now - HELD_S:
            self._forget(next(iter(self._of)))

    def _forget(self, origin: str) -> None:
        known = self._of.pop(origin, None)
        if known is not None:
            self._held_bytes -= known.size_bytes + ENTRY_BYTES

    def _parsed(self, body: bytes, expires_at: float) -> OriginRules:
        robots = Robots(body)
        delay_s = robots.crawl_delay_s(self._agent)
        return OriginRules(
            robots.rules(self._agent),
            expires_at=expires_at,
            delay_s=min(delay_s, MOST_DELAY_S) if delay_s is not None else None,
            sitemaps=robots.sitemaps,
            size_bytes=len(body),
            optouts=robots.optouts(self._agent),
        )

    def _recall(self, origin: str, now: float) -> OriginRules | None:
        row = self._file.get(origin)
        if row is None or row.expires_at > now + DEFAULT_FRESH_S:  # none is kept for so long: the clock was set back
            return None
        return self._parsed(row.body, row.expires_at) if row.verdict != CLOSED else self._failed(origin)

    def _failed(self, origin: str) -> OriginRules | None:
        """Return what is known in this run of an origin whose file could not be fetched; None where it could."""
        row = self._file.get(origin)
        if row is None or row.verdict != CLOSED:
            return None
        reason = bytes(row.body).decode(errors="replace")
        return OriginRules(open=False, expires_at=row.expires_at, failures=row.failures, reason=reason)
