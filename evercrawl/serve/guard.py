"""Access control: host names, the token, origins, and limits on the size and rate of requests."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import time
from collections import OrderedDict
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evercrawl.config.secrets import write_private
from evercrawl.decoding import whole_of
from evercrawl.errors import ConfigError
from evercrawl.serve.problems import problem
from evercrawl.serve.strangers import network_of
from evercrawl.small_file import read_small
from evercrawl.store.disk.owner import see_owned
from evercrawl.store.disk.plain import read_piece

TOKEN_FILE: Final = "serve-token"
PLACE_FILE: Final = "serve-token.place"
"""Says of which file the token was made."""
_TOKEN_CHARS: Final = 32
_PLACE_BYTES: Final = 64
BODY_BYTES: Final = 64 << 10
"""Of a request; a longer one is refused."""
PER_S: Final = 50.0
BURST: Final = 200.0
"""Limits on requests of one network, or of one address of this machine: per second on average, and at once."""
_CLIENTS: Final = 4096
_SAFE: Final = frozenset({"GET", "HEAD"})
_DATA: Final = ("/api/", "/metrics", "/mcp", "/openapi.json")
"""Paths that return data of the crawl. The pages for browsers contain none, and request these with the token."""
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""What a proxy adds: whoever is behind one on this machine need not be here."""
_PROXY_VERSION: Final = "1.0"
"""No browser speaks it today; reverse proxies do, some of which add no field unless they are configured to."""
ASKED: Final = "/mcp"
"""The path at which questions come by POST: who may read may ask, and the token decides what else is possible."""
TICKETED: Final = frozenset({"/api/v1/retrievals", "/api/v1/clicks"})
"""Paths to which whoever was shown an answer tells what became of it: a ticket stands for the token."""
_SEARCH: Final = ("/api/v1/search", "/api/v1/suggest", "/static/", "/search")
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def token_of(directory: Path) -> str:
    """Return the token required for writes, stored in `directory` for its owner alone; created if missing.

    One that was not created in this place is replaced: whoever made a copy of the directory, or the directory itself,
    may know it. If the directory is not writable, the token is valid for this run only.

    Raises
    ------
    ConfigError
        Others can read it, or it belongs to another user.
    StoreError
        This is root, and the crawl is another user's.
    """
    file = directory / TOKEN_FILE
    see_owned(directory)
    try:
        about = file.lstat()
    except OSError:
        return _created(directory)
    if about.st_uid != os.geteuid() or about.st_mode & 0o077 or not file.is_file() or file.is_symlink():
        raise ConfigError(f"{file} can be read by others or is not yours; remove it, and it is created again")
    token = read_small(file).decode("ascii", "replace").strip()
    if len(token) < _TOKEN_CHARS:
        raise ConfigError(f"{file} holds no token; remove it, and it is created again")
    if not hmac.compare_digest(read_piece(directory / PLACE_FILE, 0, _PLACE_BYTES), _place(file, token)):
        return _created(directory)
    return token


def _created(directory: Path) -> str:
    """Return a new token, stored if that is possible."""
    file, token = directory / TOKEN_FILE, secrets.token_urlsafe(32)
    with contextlib.suppress(OSError):
        write_private(file, token.encode() + b"\n")
        write_private(directory / PLACE_FILE, _place(file, token))
    return token


def _place(file: Path, token: str) -> bytes:
    """Return a digest of the token, its file's inode number, and the time of the file's last change.

    A copy of the file has another inode number and time, which whoever sends the copy cannot know in advance.
    """
    about = file.lstat()
    return hashlib.sha256(f"{token} {about.st_ino} {about.st_ctime_ns}".encode()).hexdigest().encode()


class RequestGuard:
    """Rejects invalid requests before any work is done, and adds security headers to responses.

    Parameters
    ----------
    app
        The application.
    token
        The token required for writes, and for reads from beyond loopback.
    hosts
        Host names accepted, without port; loopback addresses are always accepted.
    public
        Which reads need the token: "" for all from beyond loopback, "search" for all but the search.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str], public: str = "") -> None:
        self._app, self._token, self._hosts = app, token.encode(), hosts
        self._public = public
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._judge(scope, headers)
        if refused is not None:
            status, detail, more = refused
            await problem(status, detail, HEADERS | more)(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    found.setdefault(name, value)
                found.setdefault("cache-control", "no-store")
            await send(message)

        left = BODY_BYTES

        async def receive_bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            return {"type": "http.disconnect"} if left < 0 else message

        await self._app(scope, receive_bounded, send_guarded)

    def _judge(self, scope: Scope, headers: Headers) -> tuple[int, str, dict[str, str]] | None:
        """Return status, message and headers of a rejection; None if the request may pass."""
        host, method, path = _name(headers.get("host", "")), scope["method"], str(scope["path"])
        if host not in self._hosts and not _is_loopback(host):
            return 421, "this server does not go by that name; name it with --host-name when it is started", {}
        client = (scope.get("client") or ("", 0))[0]
        proxied = any(name in headers for name in _FORWARDED) or scope.get("http_version") == _PROXY_VERSION
        forwarded = ",".join(headers.getlist("x-forwarded-for"))
        local = _is_loopback(client) and not proxied
        network = network_of(client, forwarded)
        wait_s = self._take(client if local else network)
        if wait_s > 0:
            return 429, "too many requests at once; ask more slowly", {"retry-after": str(int(wait_s) + 1)}
        length = headers.get("content-length") or "0"
        if whole_of(length, 0, BODY_BYTES) is None:
            return 413, f"a request may have {BODY_BYTES} bytes", {}
        knows = self._knows(headers)
        free = local or (self._public == "search" and _searches(path)) or knows
        stranger = None if knows or local else network
        scope.setdefault("state", {}).update(may_read=free, knows=knows, network=stranger)
        if method not in _SAFE and not (path == ASKED and free):
            return self._judge_write(headers, ticketed=method == "POST" and path in TICKETED)
        if path.startswith(_DATA) and (_is_fetched(headers) or (path == ASKED and _is_foreign(headers))):
            return 403, "another site may not ask this crawl", {}
        if not free and path.startswith(_DATA):
            return 401, f"this needs the token in {TOKEN_FILE} of the crawl directory", {"www-authenticate": "Bearer"}
        return None

    def _judge_write(self, headers: Headers, *, ticketed: bool) -> tuple[int, str, dict[str, str]] | None:
        if _is_foreign(headers):
            return 403, "another site may not change this crawl", {}
        if not ticketed and not self._knows(headers):
            detail = f"changes need the token in {TOKEN_FILE} of the crawl directory, as Authorization: Bearer TOKEN"
            return 401, detail, {"www-authenticate": "Bearer"}
        return None

    def _knows(self, headers: Headers) -> bool:
        """Return whether a request carries the token."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)

    def _take(self, client: str) -> float:
        """Count a request of a client; return the time it has to wait in seconds, 0 for none."""
        now = time.monotonic()
        left, at = self._buckets.pop(client, (BURST, now))
        left = min(left + (now - at) * PER_S, BURST)
        self._buckets[client] = (max(left - 1.0, 0.0), now)
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if left >= 1.0 else (1.0 - left) / PER_S


def _is_foreign(headers: Headers) -> bool:
    """Return whether a browser sends the request for a page of another site."""
    origin = headers.get("origin", "")
    return _is_fetched(headers) or (bool(origin) and origin.partition("://")[2] != headers.get("host"))


def _is_fetched(headers: Headers) -> bool:
    return headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def _name(host: str) -> str:
    """Return a Host header without its port.

    Examples
    --------
    >>> _name("localhost:8400"), _name("[::1]:8400"), _name("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _searches(path: str) -> bool:
    return path == "/" or path.startswith(_SEARCH)
