"""From an exchange to what it teaches: outcome, content, links; nothing is remembered here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.change.dates import http_date
from evercrawl.crawl.contents import Content, body_of, contents
from evercrawl.fetch.answer import unwrap
from evercrawl.parse.urls import normalise
from evercrawl.store.events import CHANGED, HAS_LINKS, KEEP, NOINDEX, PARTIAL, TLS_BAD, UNCHANGED
from evercrawl.types import Outcome

if TYPE_CHECKING:
    from evercrawl.schedule.hosts import Host
    from evercrawl.store.events import Visit
    from evercrawl.types import Exchange

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
PERMANENT: Final = frozenset({301, 308})
TROUBLE: Final = frozenset({0, 408, 425, 429, 500, 502, 503, 504})  # statuses that another try may cure
RETRY_AFTER_MOST_S: Final = 86_400.0
_VALIDATOR_CHARS: Final = 512


class Before(msgspec.Struct, frozen=True):
    """What was known of a page when it was asked for.

    Attributes
    ----------
    visits, changes
        Visits and changes so far.
    visited_at
        Instant of the last visit; None before the first.
    digest, outcome
        Of the last visit with content; 0 where there was none.
    depth, hops
        Links from a seed, redirects in a row.
    last
        The last event with content, where that content is still held: its validators, and its archive record.
    event, held
        Journal pointer of the last event with links, 0 where there is none; and the event itself.
    history, mark, member
        Its cash account: see `Account`, and whether it has a share of its site's virtual cash.
    shape, scale_s
        What the visits so far add to the prior of its rate of change.
    changed_at, seen_at
        When the content held last changed, as far as is known; the last visit that saw it.
    simhash, words, size_bytes
        Of the content held.
    misses
        Visits in a row that found it gone, or in trouble.
    validated
        Whether its server sends validators.
    findable
        Whether the search index has it, or is about to.
    """

    visits: int = 0
    changes: int = 0
    visited_at: float | None = None
    digest: int = 0
    outcome: int = 0
    depth: int = 0
    hops: int = 0
    last: Visit | None = None
    event: int = 0
    held: Visit | None = None
    history: float = 0.0
    mark: float = 0.0
    member: bool = False
    shape: float = 0.0
    scale_s: float = 0.0
    changed_at: float = 0.0
    seen_at: float = 0.0
    simhash: int = 0
    words: int = 0
    size_bytes: int = 0
    misses: int = 0
    validated: bool = False
    findable: bool = False


class Reading(msgspec.Struct):
    """One visit, understood but not yet remembered.

    Attributes
    ----------
    exchange, host, slot, before
        What was asked, of whom, and what was known of the page.
    unread, content
        Whether the body has yet to be read; what it says, where there was one to be read.
    outcome, flags, error
        As the event will have them.
    redirect, canonical
        Where the page says that its content is, normalised; "" where it is here.
    keys, away
        Of `targets`, u8 each; and what `leading_away` says of them. Empty and None where nobody has worked them out.
    said
        How likely the copy was to be fresh when the page was asked for; nan where nobody says.
    """

    exchange: Exchange
    host: Host
    slot: int
    before: Before
    outcome: Outcome = Outcome.ERROR
    unread: bool = False
    content: Content | None = None
    flags: int = 0
    digest: int = 0
    simhash: int = 0
    words: int = 0
    size_bytes: int = 0
    title: str = ""
    language: str = ""
    mime: str = ""
    etag: str = ""
    last_modified: str = ""
    error: str = ""
    redirect: str = ""
    canonical: str = ""
    withheld: int = 0
    unpaid: list[str] = []
    feeds: list[str] = []
    targets: list[str] = []
    keys: bytes = b""
    away: list[int] | None = None
    said: float = math.nan

    @property
    def trouble(self) -> bool:
        """Whether the host, not the page, seems to be at fault."""
        status = self.exchange.status
        return self.outcome == Outcome.ERROR and (status in TROUBLE and self.exchange.error != "too_large")


def read(exchange: Exchange, host: Host, slot: int, before: Before, agent: str) -> Reading:
    """Judge one exchange, and read its body here and now."""
    reading = judge(exchange, host, slot, before)
    if reading.unread:
        understand(reading, contents(body_of(exchange, held(before), agent, text=False)))
    return reading


def judge(exchange: Exchange, host: Host, slot: int, before: Before) -> Reading:
    """Judge one exchange by all but what its body says; it is `unread` where the body has yet to be read."""
    reading = Reading(exchange, host, slot, before)
    if exchange.tls_ok is False:
        reading.flags |= TLS_BAD
    status = exchange.status
    reading.unread = 200 <= status < 300 and status != 204 and (exchange.truncated or not exchange.error)
    if reading.unread:
        return reading
    if exchange.packed:
        unwrap(exchange)
    reading.size_bytes = len(exchange.body)
    if exchange.error == "refused_address":
        reading.outcome, reading.error = Outcome.REFUSED, f"refused_address: {exchange.detail}"
    elif status == 0 or (exchange.error and not exchange.truncated):
        _failed(reading)
    elif status == 304 and before.digest:
        reading.outcome = Outcome.DUPLICATE if before.outcome == Outcome.DUPLICATE else Outcome.OK
        reading.flags |= UNCHANGED | KEEP
        reading.digest = before.digest
    elif status in REDIRECTS:
        _redirect(reading)
    elif status in (404, 410):
        reading.outcome = Outcome.GONE
    else:
        reading.error = f"status: {status}"
    return reading


def held(before: Before) -> int:
    """Return the digest of the content that is held and whose links are; 0 where all must be read anew."""
    return before.digest if before.event and not partial(before) else 0


def partial(before: Before) -> bool:
    """Whether not all links of the content held could be let in, so that it has to be read anew."""
    return before.held is not None and before.held.flags & PARTIAL != 0


def understand(reading: Reading, content: Content) -> None:
    """Take in what the body says."""
    exchange, before, headers = reading.exchange, reading.before, reading.exchange.headers
    reading.unread, reading.content = False, content
    exchange.packed = False
    if content.error or content.truncated:
        exchange.truncated = content.truncated
        exchange.error, exchange.detail = exchange.error or content.error, exchange.detail or content.detail
    if exchange.error and not exchange.truncated:
        _failed(reading)
        return
    reading.outcome = Outcome.TRUNCATED if exchange.truncated else Outcome.OK
    if exchange.truncated:
        reading.error = f"{exchange.error or 'truncated'}: {exchange.detail}"
    reading.etag = headers.get("etag", "")[:_VALIDATOR_CHARS]
    reading.last_modified = headers.get("last-modified", "")[:_VALIDATOR_CHARS]
    reading.size_bytes, reading.digest, reading.mime = content.size_bytes, content.digest, content.mime
    if before.digest:
        reading.flags |= UNCHANGED if reading.digest == before.digest else CHANGED
    if reading.flags & UNCHANGED and before.event and not partial(before):
        reading.flags |= KEEP
        if before.outcome == Outcome.DUPLICATE:
            reading.outcome = Outcome.DUPLICATE
        return
    reading.flags |= HAS_LINKS | (NOINDEX if content.noindex else 0)
    reading.title, reading.language = content.title, content.language
    reading.simhash, reading.words = content.simhash, content.words
    reading.targets, reading.unpaid, reading.withheld = content.targets, content.unpaid, content.withheld
    reading.feeds, reading.canonical = content.feeds, content.canonical
    reading.keys, reading.away = content.keys, content.away


def retry_after_s(exchange: Exchange, now: float) -> float:
    """Return how long the answer asks us to stay away, at most a day; 0 where it does not.

    A date is by the server's clock, which the answer's own Date shows; ours, `now`, may differ from it by hours.

    Examples
    --------
    >>> from evercrawl.types import Exchange, Request
    >>> retry_after_s(Exchange(Request("http://a/"), 0.0, status=429, headers={"retry-after": "120"}), 0.0)
    120.0
    """
    if exchange.status not in (429, 503):
        return 0.0
    value = exchange.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:9]), RETRY_AFTER_MOST_S)
    until, served_at = http_date(value), http_date(exchange.headers.get("date", ""))
    if until is None:
        return 0.0
    return min(max(until - (now if served_at is None else served_at), 0.0), RETRY_AFTER_MOST_S)


def rest(reading: Reading, now: float) -> None:
    """Let the host rest for as long as the answer deserves: Retry-After, or a back-off that doubles."""
    wish_s = retry_after_s(reading.exchange, now)
    if wish_s:
        reading.host.failures += 1
        reading.host.stay_away(now + wish_s, "back-off")
    elif reading.trouble:
        reading.host.failed(now)
    elif reading.exchange.status:
        reading.host.succeeded()


def _redirect(reading: Reading) -> None:
    location = reading.exchange.headers.get("location", "")
    target = normalise(location, reading.exchange.request.url) if location else None  # "" would be the page itself
    if target is None:
        reading.error = f"redirect: to {location[:200]!r}, which cannot be fetched"
    else:
        reading.outcome, reading.redirect = Outcome.REDIRECT, target
        reading.flags |= HAS_LINKS  # the content that was held, if any, is not this URL's any more


def _failed(reading: Reading) -> None:
    error, detail = reading.exchange.error, reading.exchange.detail
    reading.error = f"{error or 'protocol'}: {detail}" if detail else error
