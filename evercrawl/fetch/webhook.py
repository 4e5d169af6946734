"""One POST to a user's own server, with limits on everything."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import pycurl

from evercrawl.fetch.guard import Guard, is_own
from evercrawl.fetch.single import JudgedSockets, options, posting

TIMEOUT_S: Final = 15.0
_ANSWER_BYTES: Final = 64 << 10


class Posted(NamedTuple):
    """The result of a POST: the HTTP status, 0 for no answer, and then why."""

    status: int
    error: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the server accepted it with any status 2xx."""
        return 200 <= self.status < 300


def post(
    url: str, body: bytes, fields: Mapping[str, str], *, private: bool = True, timeout_s: float = TIMEOUT_S
) -> Posted:
    """Post a body and return the result; a redirect is returned as an answer.

    Parameters
    ----------
    url
        The URL, http or https.
    body, fields
        The body, and header fields that describe it.
    private
        Whether addresses of private networks and of this machine may be connected to.
    timeout_s
        The limit of the whole exchange.
    """
    guard, taken = Guard(own=is_own), 0
    sockets = JudgedSockets(lambda address: "" if private else guard.judge(address))

    def answer(data: bytes) -> int:
        nonlocal taken
        taken += len(data)
        return len(data) if taken <= _ANSWER_BYTES else 0

    curl = pycurl.Curl()
    try:
        asked = [*options(url, sockets, fields, timeout_s), (pycurl.WRITEFUNCTION, answer), *posting(body)]
        for option, value in asked:
            curl.setopt(option, value)
        curl.perform()
    except pycurl.error as error:
        status = int(curl.getinfo(pycurl.RESPONSE_CODE))
        if taken > _ANSWER_BYTES:  # the rest is not needed
            return Posted(status)
        return Posted(0, sockets.refused[0] if sockets.refused else str(error.args[1]))
    finally:
        status = int(curl.getinfo(pycurl.RESPONSE_CODE))
        curl.close()
        sockets.close()
    return Posted(status, "" if 200 <= status < 300 else f"status {status}")
