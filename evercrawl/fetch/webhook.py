"""One POST to a user's own server, with limits on everything."""

import socket
from collections.abc import Mapping
from typing import Final, NamedTuple

import pycurl

from evercrawl.fetch.guard import Guard, is_own
from evercrawl.fetch.trust import trusted_certificates

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
    refused, sockets, guard, taken = list[str](), list[socket.socket](), Guard(own=is_own), 0

    def opened(_: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
        reason = "" if private else guard.judge(str(address.addr[0]))
        if reason:
            refused.append(reason)
            return pycurl.SOCKET_BAD
        sockets.append(socket.socket(address.family, address.socktype, address.protocol))
        return sockets[-1]  # curl takes a copy of it

    def answer(data: bytes) -> int:
        nonlocal taken
        taken += len(data)
        return len(data) if taken <= _ANSWER_BYTES else 0

    curl = pycurl.Curl()
    try:
        for option, value in (
            (pycurl.URL, url),
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
            (pycurl.PROXY, ""),
            (pycurl.NOSIGNAL, 1),
            (pycurl.TIMEOUT_MS, round(timeout_s * 1e3)),
            (pycurl.CAINFO, trusted_certificates()),
            (pycurl.OPENSOCKETFUNCTION, opened),
            (pycurl.WRITEFUNCTION, answer),
            (pycurl.HTTPHEADER, [f"{name}: {value}" for name, value in fields.items()] + ["Expect:"]),
            (pycurl.POST, 1),
            (pycurl.POSTFIELDS, body),
        ):
            curl.setopt(option, value)
        curl.perform()
    except pycurl.error as error:
        status = int(curl.getinfo(pycurl.RESPONSE_CODE))
        if taken > _ANSWER_BYTES:  # the rest is not needed
            return Posted(status)
        return Posted(0, refused[0] if refused else str(error.args[1]))
    finally:
        status = int(curl.getinfo(pycurl.RESPONSE_CODE))
        curl.close()
        for each in sockets:
            each.close()
    return Posted(status, "" if 200 <= status < 300 else f"status {status}")
