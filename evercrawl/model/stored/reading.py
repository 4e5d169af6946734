"""From an exchange to its reading: what was requested, what was received, and what counts. Judgement is elsewhere."""

import math
from typing import Final

import msgspec

from evercrawl.fetch.answer import unwrap
from evercrawl.model.stored.contents import Content
from evercrawl.parse.urls import normalise
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.store.journal.events import PARTIAL, Visit
from evercrawl.types import Exchange, Outcome

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
PERMANENT: Final = frozenset({301, 308})
_VALIDATOR_CHARS: Final = 512
_NOT_MODIFIED: Final = 304


class Before(msgspec.Struct, frozen=True):
    """The state of a page when it was requested.

    Attributes
    ----------
    visits, changes
        Visits and changes so far.
    visited_at
        Instant of the last visit; None before the first.
    digest, digest_rest, outcome
        Of the last visit with content; 0 where there was none. The digest is in two words.
    depth, hops
        Links from a seed; consecutive redirects.
    last
        The last event with content, if that content is still stored: its validators and its archive record.
    event, held
        Journal pointer of the last event with links, 0 without one; and the event itself.
    history, mark, member
        Its cash account, see `Account`; and whether it shares in its site's virtual cash.
    shape, scale_s
        The evidence of past visits, added to the prior of its rate of change.
    changed_at, seen_at
        Time of the last known change of the stored content; the last visit that saw it.
    simhash, words, size_bytes
        Of the stored content.
    misses
        Consecutive visits that found it gone or failed.
    validated
        Whether its server sends validators.
    findable
        Whether the search index contains it, or soon will.
    """

    visits: int = 0
    changes: int = 0
    visited_at: float | None = None
    digest: int = 0
    digest_rest: int = 0
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


class Fetched(msgspec.Struct):
    """The result of requesting a page, possibly with its body still to be parsed.

    Attributes
    ----------
    exchange, host, slot, before
        What was asked, of whom, and what was known of the page.
    said
        Predicted probability that the copy was fresh at the time of the request; nan without a prediction.
    unread, content
        Whether the body has yet to be parsed; its content, if it has a body to parse.
    rendering
        The result of rendering: a flag of its visit (`RENDER_GAINED`, ...), 0 for none.
    """

    exchange: Exchange
    host: Host
    slot: int
    before: Before
    said: float = math.nan
    unread: bool = False
    content: Content | None = None
    rendering: int = 0

    def take(self, content: Content) -> None:
        """Add the parsed content, and what decoding it showed about the exchange."""
        exchange = self.exchange
        self.unread, self.content, exchange.packed = False, content, False
        if content.error or content.truncated:
            exchange.truncated = content.truncated
            exchange.error, exchange.detail = exchange.error or content.error, exchange.detail or content.detail


_NOTHING: Final = Content()


class Reading(msgspec.Struct, frozen=True):
    """What one visit shows of a page; `classify` judges it.

    Attributes
    ----------
    exchange, host, slot, before
        What was asked, of whom, and what was known of the page.
    said
        As in `Fetched`.
    refusal, soft404
        Why the page was not requested; why the response is a soft 404. "" otherwise.
    content, page
        The parsed body, if there is one; the part that counts: nothing if the response failed or is a soft 404.
    digest, digest_rest, size_bytes, mime
        Of the content; for a 304 the digest is that of the stored content.
    etag, last_modified
        The page's validators.
    redirect
        The normalised redirect target; "" without one, or if it cannot be fetched.
    failed
        Whether no response came, or none readable even in part.
    optouts
        Opt-outs from model training in its origin's robots.txt, as bits of `OptOut`.
    rendering
        As in `Fetched`.
    unchanged, kept
        Whether the content is the stored one; and whether its links are, too, so that nothing was parsed again.
    """

    exchange: Exchange
    host: Host
    slot: int
    before: Before
    said: float = math.nan
    refusal: str = ""
    soft404: str = ""
    content: Content | None = None
    page: Content = msgspec.field(default_factory=lambda: _NOTHING)  # read-only
    digest: int = 0
    digest_rest: int = 0
    size_bytes: int = 0
    mime: str = ""
    etag: str = ""
    last_modified: str = ""
    redirect: str = ""
    failed: bool = False
    unchanged: bool = False
    kept: bool = False
    optouts: int = 0
    rendering: int = 0

    @property
    def whole(self) -> bool:
        """Whether the content is complete: not truncated, or equal to a copy that was stored completely."""
        return not self.exchange.truncated or (self.kept and self.before.outcome == Outcome.DUPLICATE)


def fetched(exchange: Exchange, host: Host, slot: int, before: Before, said: float = math.nan) -> Fetched:
    """Return the result of requesting a page; it is `unread` if there is a body to parse."""
    status = exchange.status
    unread = 200 <= status < 300 and status != 204 and (exchange.truncated or not exchange.error)
    if not unread and exchange.packed:
        unwrap(exchange)
    return Fetched(exchange, host, slot, before, said, unread)


def understand(answer: Fetched) -> Reading:
    """Return the reading of a response whose body is parsed."""
    exchange, before, content = answer.exchange, answer.before, answer.content
    about = exchange, answer.host, answer.slot, before, answer.said
    status, size_bytes = exchange.status, len(exchange.body)
    if status == 0 or (exchange.error and not exchange.truncated):
        return Reading(*about, content=content, size_bytes=0 if content is not None else size_bytes, failed=True)
    if content is None:
        if status == _NOT_MODIFIED:
            digest, there = (before.digest, before.digest_rest), before.digest != 0
            return Reading(
                *about, digest=digest[0], digest_rest=digest[1], size_bytes=size_bytes, unchanged=there, kept=there
            )
        redirect = _redirect(exchange) if status in REDIRECTS else ""
        return Reading(*about, size_bytes=size_bytes, redirect=redirect)
    headers, digest = exchange.headers, (content.digest, content.digest_rest)
    same = content.digest != 0 and digest == (before.digest, before.digest_rest)
    unchanged = same or (content.former != 0 and (content.former, 0) == (before.digest, before.digest_rest))
    return Reading(
        *about,
        content=content,
        page=content,
        digest=content.digest,
        digest_rest=content.digest_rest,
        size_bytes=content.size_bytes,
        mime=content.mime,
        etag=headers.get("etag", "")[:_VALIDATOR_CHARS],
        last_modified=headers.get("last-modified", "")[:_VALIDATOR_CHARS],
        unchanged=unchanged,
        kept=same and held(before)[0] != 0,
    )


def no_page(reading: Reading, why: str) -> Reading:
    """Return a reading reduced to the fact that the server responded, because the response is not a page."""
    return Reading(
        reading.exchange, reading.host, reading.slot, reading.before, reading.said, soft404=why,
        content=reading.content, size_bytes=reading.size_bytes, mime=reading.mime,
    )  # fmt: skip


def held(before: Before) -> tuple[int, int]:
    """Return the digest of stored content whose links are stored too; zeros if all must be parsed again."""
    return (before.digest, before.digest_rest) if before.event and not partial(before) else (0, 0)


def partial(before: Before) -> bool:
    """Return whether some links of the stored content were refused, so that it must be parsed again."""
    return before.held is not None and before.held.flags & PARTIAL != 0


def _redirect(exchange: Exchange) -> str:
    location = exchange.headers.get("location", "")
    target = normalise(location, exchange.request.url) if location else None  # "" would resolve to the page itself
    return target or ""
