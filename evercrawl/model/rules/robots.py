"""robots.txt of every origin: requested before its first page, cached for at most a day, also across restarts."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from evercrawl.fetch.robots import MAX_ROBOTS_BYTES, Robots, Rules
from evercrawl.fetch.robots_policy import DEFAULT_FRESH_S, MIN_FRESH_S, ROBOTS_REDIRECTS, fresh_s, verdict
from evercrawl.model.rules.robots_file import CLOSED, MOST_BYTES, RobotsFile, RobotsRow
from evercrawl.parse.urls import normalise
from evercrawl.types import Exchange, Request

MOST_DELAY_S: Final = 300.0  # a longer Crawl-delay is capped to this
RETRY_MOST_S: Final = 3600.0
MOST_HELD_BYTES: Final = 32 << 20  # of files whose parsed rules are in memory, at four to thirteen times their size
HELD_S: Final = 120.0  # after which unused rules of an origin are dropped from memory
ENTRY_BYTES: Final = 512  # overhead beside the file
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(slots=True)
class OriginRules:
    """The rules that one origin (scheme, host, port) sets for this crawler.

    Attributes
    ----------
    rules
        The rules for our product token; None allows everything or nothing, according to `open`.
    open
        Whether anything may be fetched.
    expires_at
        Expiry; the file is requested again after it.
    delay_s
        Crawl-delay; None without one.
    failures
        Consecutive failures that closed the site (5xx or no response).
    reason
        The last of them, its class first; "" if the file, or its absence, is known.
    sitemaps
        The sitemaps that the file names.
    size_bytes
        Size of the file.
    used_at
        Time of the last look-up.
    optouts
        Opt-outs from model training in the file, as bits of `OptOut`.
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
    """Marks an exchange as a request for an origin's robots.txt, after `hops` redirects."""

    origin: str
    hops: int = 0


class RobotsKeeper:
    """The rules of every origin met, backed by an SQLite cache.

    Parameters
    ----------
    path
        SQLite file; ":memory:" stores nothing.
    agent
        Our product token.
    deadline_s
        Time limit of one request for robots.txt.
    most_bytes
        Size limit of the cache, as in `RobotsFile`.
    """

    def __init__(self, path: str, agent: str, deadline_s: float, most_bytes: int = MOST_BYTES) -> None:
        self._agent = agent
        self._deadline_s = deadline_s
        self._of: OrderedDict[str, OriginRules] = OrderedDict()  # least recently used first
        self._held_bytes = 0
        self._file = RobotsFile(path, most_bytes)

    @property
    def held(self) -> int:
        """Number of origins whose rules are in memory."""
        return len(self._of)

    def of(self, origin: str, now: float) -> OriginRules | None:
        """Return the rules valid at `now`; None if they have to be requested."""
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
        """Return the last rules of an origin learned in this run, expired or not."""
        return self._of.get(origin) or self._failed(origin) or OriginRules()

    def request(self, origin: str, url: str = "", hops: int = 0) -> Request:
        """Return the request for an origin's robots.txt, or for its redirect target."""
        return Request(
            url or f"{origin}/robots.txt",
            RobotsTag(origin, hops),
            max_wire_bytes=MAX_ROBOTS_BYTES,
            max_body_bytes=MAX_ROBOTS_BYTES,
            deadline_s=self._deadline_s,
        )

    def moved(self, exchange: Exchange) -> Request | None:
        """Return the request for the redirect target of a response; None if it is no redirect."""
        tag = exchange.request.tag
        assert isinstance(tag, RobotsTag)
        if exchange.status not in _REDIRECTS or tag.hops >= ROBOTS_REDIRECTS:
            return None
        location = exchange.headers.get("location", "")
        target = normalise(location, exchange.request.url) if location else None
        return self.request(tag.origin, target, tag.hops + 1) if target else None

    def learn(self, exchange: Exchange, now: float, age_s: float = 0.0) -> OriginRules:
        """Store the final response, whose age is given, and return the rules that apply from now on."""
        tag = exchange.request.tag
        assert isinstance(tag, RobotsTag)
        error = exchange.error
        if (exchange.truncated and len(exchange.body) >= MAX_ROBOTS_BYTES) or len(exchange.wire) >= MAX_ROBOTS_BYTES:
            error = ""  # truncated by our own limit: the part received is used
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
        """Keep rules in memory, evicting unused ones, which are read from the cache when needed."""
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
        if row is None:
            return None
        if row.expires_at > now + DEFAULT_FRESH_S:  # beyond any lifetime: the clock was set back
            self._file.drop(origin)  # or it would be valid again as time passes, while the file cannot be fetched
            return None
        return self._parsed(row.body, row.expires_at) if row.verdict != CLOSED else self._failed(origin)

    def _failed(self, origin: str) -> OriginRules | None:
        """Return the failure of an origin's file in this run; None if it was fetched."""
        row = self._file.get(origin)
        if row is None or row.verdict != CLOSED:
            return None
        reason = bytes(row.body).decode(errors="replace")
        return OriginRules(open=False, expires_at=row.expires_at, failures=row.failures, reason=reason)
