"""Sequence tokens: opaque marks of the part of a crawl that a response is based on."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec

from evercrawl.serve.problems import RequestError, on_problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

AT_LEAST: Final = "at_least"
"""Parameter of every question: a token, on as much as which the answer is to rest."""
SEQUENCE: Final = "evercrawl-sequence"
"""Field that carries the token of an answer."""
WAITS_S: Final = 10.0
_POLL_S: Final = 0.01
_LONGEST: Final = 200  # characters of a token
_ETAG_BYTES: Final = 12


def written(crawl: str, sequence: int) -> str:
    """Return the token of a response based on the first `sequence` events of a crawl.

    Examples
    --------
    >>> sequence_of(written("0f3a", 42), "0f3a")
    42
    """
    data = msgspec.msgpack.encode((crawl[:16], (sequence,)))
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def sequence_of(token: str, crawl: str) -> int:
    """Return the number of events in a crawl's token.

    Raises
    ------
    RequestError
        It is invalid, or of another crawl.
    """
    try:
        data = base64.urlsafe_b64decode(token.encode("ascii") + b"==") if len(token) <= _LONGEST else b""
        of, (sequence,) = msgspec.msgpack.decode(data, type=tuple[str, tuple[int]])
    except (binascii.Error, UnicodeError, msgspec.MsgspecError, ValueError):
        raise RequestError(400, f"{token[:40]!r} is no {SEQUENCE}; give one that an answer had") from None
    if of != crawl[:16] or sequence < 0:
        raise RequestError(400, f"that {SEQUENCE} is of another crawl; ask without {AT_LEAST}")
    return sequence


class SequencedAnswers:
    """Waits until a requested sequence is reached, and adds ETags, so that known responses are not sent again.

    Parameters
    ----------
    app
        The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in given if name == AT_LEAST]
        if tokens:
            left = urlencode([(name, value) for name, value in given if name != AT_LEAST])
            scope = {**scope, "query_string": left.encode("ascii")}
            try:
                await _awaited(scope["app"].state.context.replica, tokens)
            except RequestError as error:
                await (await on_problem(None, error))(scope, receive, send)  # type: ignore[arg-type]
                return
        await self._app(scope, receive, _Named(scope, send))


async def _awaited(replica: Any, tokens: list[str]) -> None:
    """Return once the replica has reached the sequence in the tokens."""
    if len(tokens) > 1:
        raise RequestError(400, "a parameter may be given once")
    wanted, until = sequence_of(tokens[0], replica.crawl), time.monotonic() + WAITS_S
    while replica.sequence < wanted:
        if time.monotonic() > until:
            raise RequestError(503, "the journal has not reached that point yet; ask again", retry_after="1")
        await asyncio.sleep(_POLL_S)


class _Named:
    """Sends a response with an ETag; or 304 if the client has it already."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._known = dict(scope["headers"]).get(b"if-none-match", b"")
        self._send = send
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.start" and message["status"] == 200:
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body", False):
                name = b'W/"%b"' % hashlib.sha256(message.get("body", b"")).hexdigest()[: 2 * _ETAG_BYTES].encode()
                headers = [*start["headers"], (b"etag", name)]
                if name in (each.strip() for each in self._known.split(b",")):
                    kept = [(field, value) for field, value in headers if field not in _OF_BODIES]
                    start, message = {**start, "status": 304, "headers": kept}, {**message, "body": b""}
                else:
                    start = {**start, "headers": headers}
            await self._send(start)
        await self._send(message)


_OF_BODIES: Final = frozenset({b"content-length", b"content-type", b"content-encoding"})
