"""Tickets: signed notes of what a search showed, with which browsers tell what was seen and opened."""

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
_AHEAD_S: Final = 60.0  # that the clock may have gone back by since a ticket was made


class AnswerTicket(msgspec.Struct, frozen=True, array_like=True, tag="answer"):
    """One answer of the search.

    Attributes
    ----------
    id
        Of the question; random.
    at
        When it was answered, in seconds since the epoch.
    query
        Its words.
    first
        Place of the first of `urls`, from 0.
    urls
        Of the pages shown, in order.
    """

    id: str
    at: float
    query: str
    first: int
    urls: tuple[str, ...]


class HitTicket(msgspec.Struct, frozen=True, array_like=True, tag="hit"):
    """One page of an answer: the answer's `id`, `at` and `query`, the page's `url`, and the `place` where it stood."""

    id: str
    at: float
    query: str
    place: int
    url: str


_T = TypeVar("_T", AnswerTicket, HitTicket)


class TicketOffice:
    """Makes tickets and takes them back.

    Parameters
    ----------
    token
        Of the server; a key is derived from it, so that tickets outlive a restart, and end when the token is renewed.

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
        """Return the ticket of an answer given now."""
        return AnswerTicket(secrets.token_hex(8), round(time.time(), 3), query, first, tuple(urls))

    def written(self, ticket: AnswerTicket | HitTicket) -> str:
        """Return a ticket as text that may stand in a path; "" where it would be too long."""
        data = msgspec.json.encode(ticket)
        text = _text(data) + "." + _text(self._mac(data))
        return text if len(text) <= LONGEST else ""

    def hits(self, answer: AnswerTicket) -> list[str]:
        """Return the tickets of the pages of an answer, as text."""
        return [
            self.written(HitTicket(answer.id, answer.at, answer.query, answer.first + i, url))
            for i, url in enumerate(answer.urls)
        ]

    def read(self, text: str, kind: type[_T]) -> _T:
        """Return a ticket that this server made.

        Raises
        ------
        RequestError
            It did not, or so long ago that the ticket is over.
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
