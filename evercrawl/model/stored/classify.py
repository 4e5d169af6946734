"""The outcome of a visit, decided once: a plain function of what the answer shows and of what is known beside it.

Nothing else gives a visit its outcome, and nothing changes it later.
"""

from typing import Final

import msgspec

from evercrawl.model.stored.reading import REDIRECTS, Reading
from evercrawl.store.journal.events import CHANGED, CROWDED, HAS_LINKS, KEEP, NOINDEX, PARTIAL, TLS_BAD, UNCHANGED
from evercrawl.types import NO_SLOT, Outcome

_GONE: Final = (404, 410)
_WALL: Final = (
    "cookie_wall: it sets a cookie and redirects until it gets that back; to keep this site's cookies, write "
    "cookies = true in its section of crawl.toml"
)
_SHOWN_CHARS: Final = 200  # of a place that cannot be fetched


class Knowledge(msgspec.Struct, frozen=True):
    """What is known of a visit beside its answer.

    Attributes
    ----------
    original
        Slot of the page that said the same, byte for byte, before this one; NO_SLOT where none did.
    by_chance
        Whether it is so little that both may say it without one being the other's copy.
    most_hops
        How many redirects are followed in a row, where this one would be one more; None where it may be followed.
    partial
        Whether the budgets kept some of its links out.
    crowded
        Whether links to its own host were among them, because too many URLs wait there.
    circle
        Whether it redirects to a page that redirects here.
    """

    original: int = NO_SLOT
    by_chance: bool = False
    most_hops: int | None = None
    partial: bool = False
    crowded: bool = False
    circle: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """What a visit came to.

    Attributes
    ----------
    outcome, error
        As its event will have them.
    flags
        Those of its event that speak of the answer and its content: see `store.journal.events`.
    """

    outcome: Outcome
    flags: int = 0
    error: str = ""


def classify(reading: Reading, knowledge: Knowledge) -> Verdict:
    """Return what a visit came to.

    Examples
    --------
    >>> from evercrawl.model.stored.reading import Before, Reading
    >>> from evercrawl.schedule.frontier.hosts import Host
    >>> from evercrawl.types import Exchange, Request
    >>> exchange = Exchange(Request("http://a.example/"), 0.0, status=404)
    >>> classify(Reading(exchange, Host(0, "a.example"), 0, Before()), Knowledge()).outcome.label
    'gone'
    """
    exchange = reading.exchange
    tls = TLS_BAD if exchange.tls_ok is False else 0
    if reading.refusal:
        return Verdict(Outcome.REFUSED, tls, reading.refusal)
    if reading.soft404:
        return Verdict(Outcome.GONE, tls, reading.soft404)
    if reading.failed:
        return _failure(reading, tls)
    if reading.content is not None:
        return _page(reading, knowledge, tls)
    if reading.digest:  # 304
        return Verdict(_original_or_copy(reading, knowledge, Outcome.OK), tls | UNCHANGED | KEEP)
    if exchange.status in REDIRECTS:
        return _redirect(reading, knowledge, tls)
    if exchange.status in _GONE:
        return Verdict(Outcome.GONE, tls)
    return Verdict(Outcome.ERROR, tls, f"status: {exchange.status}")


def may_be_copy(reading: Reading) -> bool:
    """Whether a verdict depends on who said the same before: not of an original that has not changed, nor of a part."""
    before = reading.before
    if not reading.digest or (reading.unchanged and before.outcome == Outcome.OK):
        return False
    return reading.content is None or reading.whole


def _failure(reading: Reading, flags: int) -> Verdict:
    error, detail = reading.exchange.error, reading.exchange.detail
    if error == "refused_address":
        return Verdict(Outcome.REFUSED, flags, f"refused_address: {detail}")
    return Verdict(Outcome.ERROR, flags, f"{error or 'protocol'}: {detail}" if detail else error)


def _page(reading: Reading, knowledge: Knowledge, flags: int) -> Verdict:
    exchange, error = reading.exchange, ""
    if exchange.truncated:
        error = f"{exchange.error or 'truncated'}: {exchange.detail}"
    if reading.before.digest:
        flags |= UNCHANGED if reading.unchanged else CHANGED
    if reading.kept:
        flags |= KEEP
    else:
        flags |= HAS_LINKS | (NOINDEX if reading.page.noindex else 0) | _kept_out(knowledge)
    otherwise = Outcome.TRUNCATED if exchange.truncated else Outcome.OK
    return Verdict(_original_or_copy(reading, knowledge, otherwise), flags, error)


def _kept_out(knowledge: Knowledge) -> int:
    """Return what flags say of links that were not let in."""
    return (PARTIAL if knowledge.partial else 0) | (CROWDED if knowledge.crowded else 0)


def _original_or_copy(reading: Reading, knowledge: Knowledge, otherwise: Outcome) -> Outcome:
    """Return what content comes to; `otherwise` where it does not matter who said it first."""
    if not may_be_copy(reading):
        return otherwise
    copy = knowledge.original not in (NO_SLOT, reading.slot) and not knowledge.by_chance
    return Outcome.DUPLICATE if copy else Outcome.OK


def _redirect(reading: Reading, knowledge: Knowledge, flags: int) -> Verdict:
    if not reading.redirect:
        location = reading.exchange.headers.get("location", "")[:_SHOWN_CHARS]
        return Verdict(Outcome.ERROR, flags, f"redirect: to {location!r}, which cannot be fetched")
    if "set-cookie" in reading.exchange.headers and (
        knowledge.circle or knowledge.most_hops is not None or reading.redirect == reading.exchange.request.url
    ):
        return Verdict(Outcome.ERROR, flags, _WALL)
    if knowledge.most_hops is not None:
        return Verdict(Outcome.ERROR, flags, f"redirect: more than {knowledge.most_hops} in a row")
    # The content that was held, if any, is not this URL's any more.
    return Verdict(Outcome.REDIRECT, flags | HAS_LINKS | _kept_out(knowledge))
