"""Builds the bytes of a request, and proves that no URL or header can inject anything into it."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from evercrawl.errors import ConfigError

__all__ = ["ACCEPT", "ACCEPT_ENCODING", "Asker", "Asking", "validator"]

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING = "gzip, deflate, br"

# Visible ASCII only: no space, no line break, and no user name, because a link must not make us log in.
_URL = re.compile(
    r"(https?)://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?"  # scheme, host, port
    r"([/?][!\"$-~]*)?(?:#[!-~]*)?"  # path and query, fragment
)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?")
_VALIDATOR_CHARS = 512
_DEFAULT_PORT = {"http": "80", "https": "443"}


class Asking(NamedTuple):
    """One request in its final form.

    Attributes
    ----------
    scheme, host, port
        The parts of the URL; a literal IPv6 host has no brackets.
    authority
        Host and port as in the Host field: a default port is left out.
    target
        Path and query, as in the request line.
    fields
        Header lines without their line ends, Host first.
    """

    scheme: str
    host: str
    port: str
    authority: str
    target: str
    fields: list[bytes]

    @property
    def origin(self) -> str:
        """Scheme, host and port of the URL."""
        return f"{self.scheme}://{self.authority}"

    @property
    def absolute(self) -> str:
        """The whole URL without its fragment, as it is sent to a proxy."""
        return f"{self.origin}{self.target}"

    def head(self, version: str, target: str, method: str = "GET") -> bytes:
        """Return the head of the request as sent in HTTP/1.1, or as curl shows it in HTTP/2."""
        return b"\r\n".join([f"{method} {target} HTTP/{version}".encode("ascii"), *self.fields, b"\r\n"])


class Asker:
    r"""Builds requests with the header fields that all of them share.

    Raises
    ------
    ConfigError
        One of the fields is not valid in a header.

    Examples
    --------
    >>> asker = Asker([("Accept", "*/*")])
    >>> asking = asker.ask("http://example.org/a?b#c")
    >>> asking.head("1.1", asking.target)
    b'GET /a?b HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n'
    """

    def __init__(self, base: Sequence[tuple[str, str]]) -> None:
        try:
            self._base = {name.lower(): _line(name, value) for name, value in base}
        except ValueError as fault:
            raise ConfigError(f"{fault}: use visible ASCII in the agent and contact settings") from None
        self._base_lines = tuple(self._base.values())

    def ask(self, url: str, own: Sequence[tuple[str, str]] = ()) -> Asking:
        """Return the request for `url`; a field in `own` replaces a shared field of the same name.

        Raises
        ------
        ValueError
            The URL or a field contains a character that could end a line, or the URL is not a plain http or https
            URL.
        """
        found = _URL.fullmatch(url)
        if found is None:
            raise ValueError("the URL is not a plain http or https one in visible ASCII without a user name")
        scheme, host, port, target = found.groups()
        default = _DEFAULT_PORT[scheme]
        authority = host
        if port is None or port == default:
            port = default
        else:
            authority = f"{host}:{port}"
        if not target or target[0] == "?":
            target = f"/{target or ''}"
        lines = self._lines(own) if own else self._base_lines
        return Asking(scheme, host.strip("[]"), port, authority, target, [f"Host: {authority}".encode(), *lines])

    def _lines(self, own: Sequence[tuple[str, str]]) -> list[bytes]:
        own_lines = {_named(name): _line(name, value) for name, value in own}
        if self._base.keys().isdisjoint(own_lines):
            return [*self._base_lines, *own_lines.values()]
        return [line for name, line in self._base.items() if name not in own_lines] + list(own_lines.values())


def validator(value: str) -> str:
    r"""Return the value of an ETag or Last-Modified field if it can be sent back unchanged, else "".

    A value that is cut or has lost a character would never match; one with a control character would break the
    request.

    Examples
    --------
    >>> validator('"33a64"'), validator('""'), validator("x" * 1000)
    ('"33a64"', '', '')
    """
    return value if len(value) <= _VALIDATOR_CHARS and _VALUE.fullmatch(value) else ""


@lru_cache(maxsize=64)
def _named(name: str) -> str:
    """Return the name of a header field in lower case; "" if it is not valid."""
    return name.lower() if _NAME.fullmatch(name) else ""


def _line(name: str, value: str) -> bytes:
    """Return the line of a header field, with the value in Latin-1 as fields are read."""
    if not _named(name) or not _VALUE.fullmatch(value):
        raise ValueError(f"the header field {name!r} cannot be sent")
    return f"{name}: {value}".encode("latin-1")
