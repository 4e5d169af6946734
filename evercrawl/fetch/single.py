"""What single requests to servers of users and of strangers have in common: options of curl, and judged connections."""

import socket
from collections.abc import Callable, Mapping
from typing import Any

import pycurl

from evercrawl.fetch.trust import trusted_certificates


class JudgedSockets:
    """The sockets of one request, opened only to addresses that may be connected to.

    Parameters
    ----------
    judge
        Returns why an address may not be connected to; "" if it may.

    Attributes
    ----------
    refused
        Why addresses were refused.
    """

    def __init__(self, judge: Callable[[str], str]) -> None:
        self._judge, self._sockets, self.refused = judge, list[socket.socket](), list[str]()

    def open(self, _: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
        """Return a socket for curl, or that it may not connect."""
        if reason := self._judge(str(address.addr[0])):
            self.refused.append(reason)
            return pycurl.SOCKET_BAD
        self._sockets.append(socket.socket(address.family, address.socktype, address.protocol))
        return self._sockets[-1]  # curl takes a copy of it

    def close(self) -> None:
        """Close the sockets."""
        for each in self._sockets:
            each.close()


def options(url: str, sockets: JudgedSockets, fields: Mapping[str, str], timeout_s: float) -> list[tuple[int, Any]]:
    """Return options of curl for one request, which has a limit of time and no proxy."""
    return [
        (pycurl.URL, url),
        (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
        (pycurl.PROXY, ""),
        (pycurl.NOSIGNAL, 1),
        (pycurl.TIMEOUT_MS, round(timeout_s * 1e3)),
        (pycurl.CAINFO, trusted_certificates()),
        (pycurl.OPENSOCKETFUNCTION, sockets.open),
        (pycurl.HTTPHEADER, [f"{name}: {value}" for name, value in fields.items()] + ["Expect:"]),
    ]


def posting(body: bytes) -> list[tuple[int, Any]]:
    """Return options of curl to post a body."""
    return [(pycurl.POST, 1), (pycurl.POSTFIELDS, body)]
