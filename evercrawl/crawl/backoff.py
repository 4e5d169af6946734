"""The rest of a host after an answer: the time that it asks for, or a back-off that doubles with each failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.change.dates import http_date
from evercrawl.types import SILENT

if TYPE_CHECKING:
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.types import Exchange

TROUBLE: Final = frozenset({0, 408, 425, 429, 500, 502, 503, 504})  # statuses after which a retry may succeed
RETRY_AFTER_MOST_S: Final = 86_400.0
SILENT_FIRST_S: Final = 30.0
SILENT_MOST_S: Final = 3600.0
_DOUBLINGS: Final = 7
_OWN: Final = ("too_large", "refused_address", "internal", "foreign_page")  # errors that do not concern the host


def in_trouble(exchange: Exchange) -> bool:
    """Return whether the host, not the page, seems to be at fault."""
    return exchange.status in TROUBLE and exchange.error not in _OWN


def retry_after_s(exchange: Exchange, now: float) -> float:
    """Return the rest that Retry-After asks for, in seconds, up to one day; 0 if the answer asks for none.

    A date in Retry-After is by the server's clock, which the answer's Date header shows. Our clock, `now`, may differ
    from it by hours.

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


def apply_backoff(host: Host, exchange: Exchange, now: float) -> None:
    """Let a host rest after an answer: as Retry-After asks, or for a back-off that doubles with each failure."""
    wish_s = retry_after_s(exchange, now)
    host.answers = int(exchange.status > 0)
    if exchange.error == SILENT:
        await_calm(host, now)
        return
    if wish_s:
        host.count_failure()
        host.stay_away(now + wish_s, "back-off")
    elif in_trouble(exchange):
        host.failed(now)
    elif exchange.status:
        host.succeeded()


def await_calm(host: Host, now: float) -> float:
    """Leave alone a host that stayed silent while too many were pending; return the end of its rest.

    The host might have answered later, so the silence does not count as a failure of its pages.
    """
    wait_s = min(SILENT_FIRST_S * 2.0 ** min(host.failures, _DOUBLINGS), SILENT_MOST_S)
    host.count_failure()
    host.stay_away(now + wait_s, SILENT)
    return host.away_until
