"""One small request to an unknown server: guarded at every connection, with limits on everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import pycurl

from evercrawl.fetch.guard import Guard
from evercrawl.fetch.single import JudgedSockets, options, posting

TIMEOUT_S: Final = 10.0
_HEAD_BYTES: Final = 64 << 10


class SmallAnswer(NamedTuple):
    """The answer: status (0 for no answer, with `error` saying why), header lines and body, cut at their limits."""

    status: int
    head: str = ""
    body: bytes = b""
    error: str = ""

    def values(self, name: str) -> list[str]:
        """Return the values of a header field, in their order."""
        pairs = (line.partition(":") for line in self.head.splitlines())
        return [value.strip() for field, _, value in pairs if field.strip().lower() == name]


def small_request(
    url: str, guard: Guard, agent: str, *, body: bytes | None = None, fields: Mapping[str, str] | None = None,
    most_bytes: int = 64 << 10, timeout_s: float = TIMEOUT_S,
) -> SmallAnswer:  # fmt: skip
    """Request a URL, or post a body to it; a redirect is returned as an answer.

    Parameters
    ----------
    url
        The URL, http or https.
    guard
        Judges the URL, and each address that is connected to.
    agent
        The User-Agent.
    body, fields
        The body to post, None for a GET; and header fields.
    most_bytes, timeout_s
        The limits of the stored body, and of the whole exchange.
    """
    if why := guard.judge_url(url):
        return SmallAnswer(0, error=why)
    sockets, head, kept = JudgedSockets(guard.judge), bytearray(), bytearray()

    def led(data: bytes) -> int:
        head.extend(data)
        return len(data) if len(head) <= _HEAD_BYTES else 0

    def answered(data: bytes) -> int:
        kept.extend(data)
        return len(data) if len(kept) <= most_bytes else 0

    sent = {"User-Agent": agent} | dict(fields or {})
    asked = options(url, sockets, sent, timeout_s)
    asked += [(pycurl.HEADERFUNCTION, led), (pycurl.WRITEFUNCTION, answered)]
    asked += posting(body) if body is not None else []
    curl, error = pycurl.Curl(), ""
    try:
        for option, value in asked:
            curl.setopt(option, value)
        curl.perform()
    except pycurl.error as failed:
        refused = sockets.refused
        error = refused[0] if refused else "the answer is too large" if len(kept) > most_bytes else str(failed.args[1])
    finally:
        status = int(curl.getinfo(pycurl.RESPONSE_CODE))
        curl.close()
        sockets.close()
    return SmallAnswer(0 if error else status, head.decode("latin-1"), bytes(kept[:most_bytes]), error)
