"""Tickets: signed records of search results, which browsers send back to report results seen and pages opened."""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
import time
from typing import Final, TypeVar

import msgspec

from evercrawl.decoding import json_of
from evercrawl.serve.problems import RequestError

LASTS_S: Final = 86_400.0
"""How long a ticket is taken."""
LONGEST: Final = 48 << 10
"""Characters of a ticket; an answer that would need more has none, and is not recorded."""
_MAC_BYTES: Final = 16
_AHEAD_S: Final = 60.0  # tolerance for a clock set back since a ticket was issued


class AnswerTicket(msgspec.Struct, frozen=True, array_like=True, tag="answer"):
    """The ticket of one list of results.

    Attributes
    ----------
    id
        Random id of the query.
    at
        Time of the response, in seconds since the epoch.
    query
        The query's words.
    first
        Place of the first of `urls`, from 0.
    urls
        URLs of the pages shown, in order.
    """

    id: str
    at: float
    query: str
    first: int
    urls: tuple[str, ...]


class HitTicket(msgspec.Struct, frozen=True, array_like=True, tag="hit"):
    """The ticket of one result: the list's `id`, `at` and `query`, the page's `url`, and its `place`."""

    id: str
    at: float
    query: str
    place: int
    url: str


_T = TypeVar("_T", AnswerTicket, HitTicket)


class TicketOffice:
    """Issues and verifies tickets.

    Parameters
    ----------
    token
        The server's token, from which a key is derived: tickets outlive a restart, and expire when the token is
        renewed.

    Examples
    --------
    >>> office = TicketOffice("secret")
    >>> answer = office.answer("tea", 0, ["https://a.example/"])
    >>> office.read(office.written(answer), AnswerTicket) == answer
    True
    """

    def __init__(self, token: str) -> None:
        self._key = hmac.digest(token.encode(), b"evercrawl: tickets of the search", "sha256")

    @staticmethod
    def answer(query: str, first: int, urls: list[str]) -> AnswerTicket:
        """Return the ticket of results returned now."""
        return AnswerTicket(secrets.token_hex(8), round(time.time(), 3), query, first, tuple(urls))

    def written(self, ticket: AnswerTicket | HitTicket) -> str:
        """Return a ticket as text for use in a path; "" if it would be too long."""
        data = msgspec.json.encode(ticket)
        text = _text(data) + "." + _text(self._mac(data))
        return text if len(text) <= LONGEST else ""

    def hits(self, answer: AnswerTicket) -> list[str]:
        """Return the tickets of the pages of results, as text."""
        return [
            self.written(HitTicket(answer.id, answer.at, answer.query, answer.first + i, url))
            for i, url in enumerate(answer.urls)
        ]

    def read(self, text: str, kind: type[_T]) -> _T:
        """Return a ticket issued by this server.

        Raises
        ------
        RequestError
            This server did not issue it, or it has expired.
        """
        body, _, mac = text.partition(".")
        try:
            data = base64.urlsafe_b64decode(body.encode("ascii") + b"==")
            given = base64.urlsafe_b64decode(mac.encode("ascii") + b"==")
            if len(text) > LONGEST or not hmac.compare_digest(given, self._mac(data)):
                raise RequestError(400, _FORGED)
            ticket = json_of(data, kind)
        except (binascii.Error, UnicodeError, msgspec.MsgspecError):
            raise RequestError(400, _FORGED) from None
        if not -_AHEAD_S <= time.time() - ticket.at <= LASTS_S:
            raise RequestError(410, "this link to a result is more than a day old; search again for a new one")
        return ticket

    def _mac(self, data: bytes) -> bytes:
        return hmac.digest(self._key, data, "sha256")[:_MAC_BYTES]


_FORGED: Final = "this is no ticket of this server; search again for a new one"


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
