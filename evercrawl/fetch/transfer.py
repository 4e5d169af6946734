"""One curl handle, set up once and used for one request after another."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pycurl

from evercrawl.fetch.answer import cut_words, settle
from evercrawl.fetch.curl_loop import SPOKE_EARLY
from evercrawl.fetch.eyeballs import AddressAliases
from evercrawl.fetch.proxies import harmless, proxy_fault

if TYPE_CHECKING:
    from evercrawl.fetch.asking import Asking
    from evercrawl.types import Exchange

__all__ = ["ClientCertificate", "CurlTransfer", "HeldBytes", "Settings"]

CONNECT_TIMEOUT_S = 10.0
NEXT_ADDRESS_S = 2.0
"""The time for which an address is waited for if the host has others that are tried next."""

_FAMILIES = (socket.AF_INET, socket.AF_INET6)
_NO_PROXY_FIELD = b"Proxy-Connection:"  # a field without a value makes curl omit its own of that name
_BAD_CERTIFICATE = (51, 60)
_NOT_CONNECTED = 7
_SEND_FAILED = 55
_SILENT_B_PER_S = 512.0  # a slower server counts as silent: a byte now and then would keep a connection
_LINE_BYTES = 32  # the assumed size of a line of a head
_MOST_PIECES = 256  # a body in pieces of two bytes would take thirty times its size
_NEWER = ("2", "3")
_VERSION_3 = 30  # CURL_HTTP_VERSION_3: QUIC, with older versions as fallback
_VERSION_3_ONLY = 31  # CURL_HTTP_VERSION_3ONLY: else a kept connection of an older version would be used
_CONNECT_TIME = 0x300000 + 5  # CURLINFO_CONNECT_TIME, missing in pycurl's types
_CONNECT_CODE = 0x200000 + 22  # CURLINFO_HTTP_CONNECTCODE, missing there too
_NOBODY = 44  # CURLOPT_NOBODY, missing in pycurl's types
_DNS_CACHE_TIMEOUT = 92  # CURLOPT_DNS_CACHE_TIMEOUT, missing there too
_CONNECT_TO = 10243  # CURLOPT_CONNECT_TO, missing there too
_HAPPY_EYEBALLS_TIMEOUT_MS = 271  # CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, missing in pycurl
_SUPPRESS_CONNECT_HEADERS = 265  # CURLOPT_SUPPRESS_CONNECT_HEADERS, missing in pycurl


class HeldBytes:
    """The bytes of bodies that one network holds, under way or ended and not yet taken over.

    Beyond `most_bytes`, no body gets more than its share: `most_bytes` divided by the highest number of exchanges at
    once.

    Attributes
    ----------
    size_bytes
        The present total.
    """

    def __init__(self, most_bytes: int, at_once: int) -> None:
        self.size_bytes = 0
        self._most_bytes, self._share_bytes = most_bytes, most_bytes // at_once

    def too_much(self, taken_bytes: int) -> bool:
        """Whether a body of which `taken_bytes` were received gets no more."""
        return self.size_bytes > self._most_bytes and taken_bytes > self._share_bytes


class ClientCertificate(NamedTuple):
    """A client certificate that identifies us to a server: PEM files, and the password of the key.

    Attributes
    ----------
    file, key_file
        The certificate with its chain; and its key, "" if it is in the same file.
    password
        The password of the key, "" for none.
    """

    file: str
    key_file: str = ""
    password: str = ""

    def __repr__(self) -> str:
        """Describe the certificate without the password."""
        return f"ClientCertificate({self.file!r})"


class Settings(NamedTuple):
    """The options that the transfers of one network share.

    Attributes
    ----------
    judge
        Address -> "" or the reason why it must not be connected to; None if a proxy makes the connections.
    looks_up, ca_file
        Whether a proxy looks names up; the file of trusted certificates, "" for curl's own.
    http2
        Whether HTTP/2 is offered over TLS.
    held
        The bytes that all transfers hold together.
    certificate
        Host -> its client certificate, if any; None if there are none at all.
    aliases, beside_s
        The names of servers with two addresses, and the time after which the second is tried beside the first.
    """

    judge: Callable[[str], str] | None
    looks_up: bool
    ca_file: str
    http2: bool
    held: HeldBytes
    certificate: Callable[[str], ClientCertificate | None] | None
    aliases: AddressAliases
    beside_s: float


class _Opened:
    """A socket for curl, which copies the descriptor; ours is closed with this object."""

    def __init__(self, address: pycurl.CurlSockAddr) -> None:
        self._fd = socket.socket(address.family, address.socktype, address.protocol).detach()

    def fileno(self) -> int:
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)


class CurlTransfer:
    """A reusable handle with the state of its current exchange.

    Attributes
    ----------
    curl
        The handle.
    exchange, asking
        The exchange under way, and its request in final form.
    unverified
        Whether certificates are not checked in this try, because one failed before.
    lines
        Header lines as received, including those of interim answers and trailers.
    fault
        The exception of the judge, if any.
    proxy, proxies_tried
        The URL of the proxy in use, "" for none; and the proxies that failed in this exchange.
    identified
        Whether it has a client certificate, which cannot be removed; such a handle is used for one exchange.
    """

    exchange: Exchange
    asking: Asking

    def __init__(self, settings: Settings) -> None:
        self.curl = pycurl.Curl()
        self.unverified = False
        self.fault: Exception | None = None
        self._settings = settings
        self.lines: list[bytes] = []
        self._gathered = bytearray()
        self._pieces: list[bytes] = []  # data received after those
        self._room_bytes = self._taken_bytes = 0
        self._crowded = False
        self._refusal = ""
        self._deadline_ms = 0
        self._target = ""
        self._fields: list[bytes] = []  # the fields last set on the handle
        self._version = pycurl.CURL_HTTP_VERSION_1_1
        self._offers: tuple[str, ...] = ("1.0", "1.1")
        self._address, self._goal = "", ""  # the address and the name last set to connect to
        self._connect_s = 0.0  # the time limit for that
        self._named = False  # whether that is a name of ours
        self.proxy, self.proxies_tried = "", list[str]()
        self._fresh = False
        self._bodiless = self._posted = False
        self.identified = False
        self._heard_at, self._heard_bytes = 0.0, 0
        self._set_up()

    def _set_up(self) -> None:
        put, settings = self.curl.setopt, self._settings
        put(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        put(pycurl.FOLLOWLOCATION, 0)
        put(pycurl.NOSIGNAL, 1)
        put(pycurl.PATH_AS_IS, 1)
        put(pycurl.TCP_NODELAY, 1)
        put(pycurl.HTTP_TRANSFER_DECODING, 0)
        put(_SUPPRESS_CONNECT_HEADERS, 1)
        put(_HAPPY_EYEBALLS_TIMEOUT_MS, max(round(settings.beside_s * 1000), 1))
        put(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        put(pycurl.PROXY, "")
        put(pycurl.NOPROXY, "")
        if not settings.looks_up:  # literal addresses need no cache, and curl goes through all of it at each transfer
            put(_DNS_CACHE_TIMEOUT, 0)
        if settings.ca_file:
            put(pycurl.CAINFO, settings.ca_file)
        put(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        put(pycurl.HEADERFUNCTION, self.lines.append)
        put(pycurl.WRITEFUNCTION, self._take)

    def begin(
        self,
        exchange: Exchange,
        asking: Asking,
        addresses: Sequence[str],
        proxy: str = "",
        *,
        beside: str = "",
        http3: bool = False,
        only: bool = False,
    ) -> None:
        """Set the handle up for `exchange`, to connect to the first of `addresses`; () leaves that to curl.

        With `beside`, it connects to whichever of the two answers first. If there are more addresses, these are tried
        next, so the first has only `NEXT_ADDRESS_S` to answer.
        """
        self.exchange, self.asking, self.proxies_tried = exchange, asking, []
        put = self.curl.setopt
        put(pycurl.URL, exchange.request.url)
        self.through(proxy)
        if exchange.request.head != self._bodiless:
            put(_NOBODY, 1 if exchange.request.head else 0)
            self._bodiless = exchange.request.head
        if exchange.request.post is not None or self._posted:
            self._post(exchange.request.post)
        certificate_of = self._settings.certificate
        if certificate_of is not None and asking.scheme == "https" and (own := certificate_of(asking.host)) is not None:
            self._identify(own)
        offers_2 = self._settings.http2 and asking.scheme == "https"
        newest = _VERSION_3_ONLY if only else _VERSION_3
        version = newest if http3 else pycurl.CURL_HTTP_VERSION_2TLS if offers_2 else pycurl.CURL_HTTP_VERSION_1_1
        if version != self._version:
            put(pycurl.HTTP_VERSION, version)
            self._version = version
        self._offers = ("1.0", "1.1", *(("2",) if offers_2 or http3 else ()), *(("3",) if http3 else ()))
        address = addresses[0] if addresses and not self._settings.looks_up else ""
        beside = beside if address and not proxy else ""
        self._lead(address, beside)
        more = len(addresses) > (2 if beside else 1)
        connect_s = NEXT_ADDRESS_S if address and more else CONNECT_TIMEOUT_S
        if connect_s != self._connect_s:
            put(pycurl.CONNECTTIMEOUT_MS, round(connect_s * 1000))
            self._connect_s = connect_s
        self.again(exchange.request.deadline_s)

    def _lead(self, address: str, beside: str) -> None:
        """Have the handle connect to an address, or to one beside it that answers sooner; "" leaves that to curl."""
        asking, aliases = self.asking, self._settings.aliases
        name, lines = "", list[str]()
        if beside:
            name, lines = aliases.both(asking.origin, asking.port, address, beside)
        elif address:
            name, lines = aliases.one(asking.origin, asking.port, address)
        self._address, self._named, goal = address, name != "", name or address
        if lines:
            self.curl.setopt(pycurl.RESOLVE, lines)
        if goal != self._goal:
            # Host field, SNI and certificate keep the name; only the connection goes to the address.
            self.curl.setopt(_CONNECT_TO, [f"::[{goal}]:" if ":" in goal else f"::{goal}:"] if goal else [])
            self._goal = goal

    def through(self, proxy: str) -> None:
        """Send the exchange through a proxy; "" for none."""
        put, asking = self.curl.setopt, self.asking
        if proxy != self.proxy:
            put(pycurl.PROXY, proxy)
            self.proxy = proxy
        # An HTTP proxy expects the whole URL in plain requests.
        absolute = proxy != "" and not proxy.lower().startswith("socks") and asking.scheme == "http"
        self._target = asking.absolute if absolute else asking.target
        put(pycurl.REQUEST_TARGET, self._target)
        fields = [*asking.fields, _NO_PROXY_FIELD] if absolute else asking.fields
        if fields != self._fields:
            put(pycurl.HTTPHEADER, fields)
            self._fields = fields

    def proxy_fault(self, code: int, words: str) -> str:
        """Return why the proxy is at fault for how the exchange ended; "" if it is not, or there is none."""
        if not self.proxy:
            return ""
        status = 0  # a SOCKS proxy gives none; behind CONNECT the answer is the host's
        if not self.proxy.lower().startswith("socks"):
            asked = _CONNECT_CODE if self.asking.scheme == "https" else pycurl.RESPONSE_CODE
            status = int(self.curl.getinfo(asked))
        return proxy_fault(code, words, status, connected=float(self.curl.getinfo(_CONNECT_TIME)) > 0)

    def _post(self, body: bytes | None) -> None:
        """Have the handle post a body, or stop posting."""
        put, self._posted = self.curl.setopt, body is not None
        if body is None:
            put(pycurl.HTTPGET, 1)
            self._bodiless = False
        else:
            put(pycurl.POST, 1)
            put(pycurl.POSTFIELDS, body)

    def _identify(self, certificate: ClientCertificate) -> None:
        """Give the handle a certificate for good; curl shares connections only between handles with the same one."""
        self.identified = True
        names = (pycurl.SSLCERT, pycurl.SSLKEY, pycurl.KEYPASSWD)
        for option, value in zip(names, certificate, strict=True):
            if value:
                self.curl.setopt(option, value)

    def again(self, deadline_s: float, *, unverified: bool = False, fresh: bool = False) -> None:
        """Set the handle up for another try at the same exchange, with `deadline_s` seconds left."""
        self._clear()
        put = self.curl.setopt
        deadline_ms = max(1, round(deadline_s * 1000))
        if deadline_ms != self._deadline_ms:
            put(pycurl.TIMEOUT_MS, deadline_ms)
            self._deadline_ms = deadline_ms
        if unverified != self.unverified:
            put(pycurl.SSL_VERIFYPEER, 0 if unverified else 1)
            put(pycurl.SSL_VERIFYHOST, 0 if unverified else 2)
            self.unverified = unverified
        if fresh != self._fresh:
            put(pycurl.FRESH_CONNECT, 1 if fresh else 0)
            self._fresh = fresh

    def older(self) -> bool:
        """If the exchange was to use only HTTP/3, switch it to older versions; return whether it was."""
        if self._version != _VERSION_3_ONLY or self.lines:
            return False
        self._version, self._offers = pycurl.CURL_HTTP_VERSION_2TLS, ("1.0", "1.1", "2")
        self.curl.setopt(pycurl.HTTP_VERSION, self._version)
        return True

    @property
    def offers_3(self) -> bool:
        """Whether HTTP/3 was tried."""
        return "3" in self._offers

    @property
    def address(self) -> str:
        """The address that the handle connects to first; "" if a proxy or curl finds it."""
        return self._address

    def silent_since(self, now: float) -> float:
        """Return the last time at which enough data had arrived: each byte makes up for a little silence.

        Its precision is the interval between calls.
        """
        came = self._taken_bytes + _LINE_BYTES * len(self.lines)
        if came > self._heard_bytes:
            self._heard_at = min(now, self._heard_at + (came - self._heard_bytes) / _SILENT_B_PER_S)
        self._heard_bytes = came
        return self._heard_at

    def end(self, code: int, words: str, now: float) -> Exchange:
        """Settle and return the exchange; `code` and `words` are curl's error number and message."""
        exchange = self.exchange
        exchange.elapsed_s = now - exchange.at
        exchange.ip = str(self.curl.getinfo(pycurl.PRIMARY_IP) or "")
        if self._named:
            connected = exchange.ip if self.curl.getinfo(pycurl.REQUEST_SIZE) else ""
            self._settings.aliases.ended(self._goal, self.asking.origin, self.asking.port, connected)
        exchange.wire = self._received()
        if self._room_bytes < 0:
            most = exchange.request.max_wire_bytes
            exchange.truncated, code, words = True, 0, cut_words(most)
            exchange.wire = exchange.wire[:most]
        elif self._crowded:
            exchange.truncated, code, words = True, 0, "too many large bodies at once"
        if self.proxy:
            words = harmless(words, self.proxy)
        settle(exchange, self.lines, code, words)
        if (spoken := exchange.http_version) in _NEWER and spoken not in self._offers:
            exchange.error = "protocol"
            exchange.detail = f"the server uses HTTP/{spoken}, which was not offered"
        if exchange.status or self.curl.getinfo(pycurl.REQUEST_SIZE):
            version = exchange.http_version if exchange.http_version in _NEWER else "1.1"
            exchange.sent = self.asking.head(version, self._target, exchange.request.method)
        if self.asking.scheme == "https" and (exchange.sent or code in _BAD_CERTIFICATE):
            exchange.tls_ok = exchange.sent != b"" and not self.unverified
        if self._refusal and code == _NOT_CONNECTED:
            exchange.error, exchange.detail = "refused_address", self._refusal
        self._clear()
        return exchange

    @property
    def heard(self) -> Sequence[bytes]:
        """Data that would show that an answer was there before the request, filled by curl; only TLS can hide one.

        Without TLS the socket shows it, and data received at once comes from a server that answers at once.
        """
        return self.lines if self.asking.scheme == "https" else ()

    def stale(self, code: int) -> bool:
        """Whether the kept connection was useless: the server had closed it, or had sent data before the request."""
        useless = code == SPOKE_EARLY or (code == _SEND_FAILED and not self.lines)
        return useless and not self._fresh

    def distrusted(self, code: int) -> bool:
        """Whether curl's error says that the certificate did not verify."""
        return code in _BAD_CERTIFICATE and not self.unverified

    def _clear(self) -> None:
        self.lines.clear()
        self._gathered.clear()
        self._pieces.clear()
        self._refusal = ""
        self._room_bytes = self.exchange.request.max_wire_bytes
        self._settings.held.size_bytes -= self._taken_bytes
        self._taken_bytes, self._crowded = 0, False
        self._heard_at, self._heard_bytes = self.exchange.at, 0

    def _received(self) -> bytes:
        if len(self._pieces) == 1 and not self._gathered:
            return self._pieces[0]
        return bytes(self._gathered) + b"".join(self._pieces)

    def _take(self, data: bytes) -> int | None:
        self._pieces.append(data)
        self._room_bytes -= len(data)
        self._taken_bytes += len(data)
        self._settings.held.size_bytes += len(data)
        if len(self._pieces) > _MOST_PIECES:
            self._gathered += b"".join(self._pieces)
            self._pieces.clear()
        self._crowded = self._settings.held.too_much(self._taken_bytes)
        return None if self._room_bytes >= 0 and not self._crowded else 0  # 0 bytes taken makes curl end the transfer

    def _open_socket(self, _purpose: int, address: pycurl.CurlSockAddr) -> _Opened | int:
        """Open a socket for a connection that curl is about to make, unless its address is refused; fails closed."""
        try:
            reason = self._refuse(address)
            if not reason:
                return _Opened(address)
            self._refusal = reason
        except Exception as fault:  # curl would swallow any exception and silently not connect
            self._refusal, self.fault = f"the address could not be judged: {fault!r}", fault
        return pycurl.SOCKET_BAD

    def _refuse(self, address: pycurl.CurlSockAddr) -> str:
        if address.family not in _FAMILIES:
            return f"addresses of family {address.family} are not supported"
        return self._settings.judge(str(address.addr[0])) if self._settings.judge else ""
