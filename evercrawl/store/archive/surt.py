"""Keys of the CDXJ index (SURT): URLs with the host name reversed, so that the pages of a domain are adjacent."""

import re
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

_PLAIN: Final = "!\"$&'()*+,/:;<=>?@[\\]^`{|}"  # not escaped, in addition to letters, digits and -._~
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_WWW: Final = re.compile(r"www\d*\.")
_USUAL_PATH: Final = re.compile(
    r"(?:[\w~-][\w.~-]*/)*(?:[\w~-][\w.~-]*)?", re.ASCII
)  # for URLs in which nothing is escaped or removed
_PATH_SESSIONS: Final = (
    re.compile(rb"(?is)(.*/)\((?:[a-z]\([0-9a-z]{24}\))++\)/((?:(?!/\([a-z]\([0-9a-z]{24}\))[^?])+?\.aspx.*+)"),
    re.compile(rb"(?is)(.*/)\([0-9a-z]{24}\)/((?:(?!/\([0-9a-z]{24}\)/)[^?])+?\.aspx.*+)"),
)
_QUERY_SESSIONS: Final = tuple(
    re.compile(rb"(?is)(.*)" + session + rb"(?:&(.*))?$")
    for session in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=(?:(?!cfid=[^&])[^&])++&cftoken=[^&]++",
    )
)


def surt_key(url: str) -> str:
    """Return the key under which replay tools look up a normalised http or https URL.

    Scheme, www, default port, fragment and session ids are removed, letters are lowered, escapes reduced to the
    necessary ones, and arguments sorted.

    >>> surt_key("https://www.example.org:8080/A/b%20c/?Z=1&a=2")
    'org,example:8080)/a/b%20c?a=2&z=1'
    """
    scheme, _, rest = url.partition("#")[0].partition("://")
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    host, port = _host_and_port(authority.rpartition("@")[2])
    key = ",".join(reversed(host.split(".")))
    if port and port != _DEFAULT_PORTS.get(scheme):
        key += f":{port}"
    arguments = _query(query)
    return f"{key}){_path(path)}" + (f"?{arguments}" if arguments else "")


def _host_and_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = authority.partition(":")
    host = host.lower().strip(".")
    www = _WWW.match(host)
    return host[www.end() :] if www else host, port


def _path(path: str) -> str:
    if _USUAL_PATH.fullmatch(path):
        return f"/{path.lower()}".removesuffix("/") or "/"
    kept: list[bytes] = []
    for segment in _unescaped(path).split(b"/"):
        if segment == b".." and kept:
            kept.pop()
        elif segment != b".":
            kept.append(segment)
    plain = b"/".join([b"", *filter(None, kept[:-1]), *kept[-1:]])
    text = _escaped(plain).lower()
    for session in _PATH_SESSIONS:
        if found := session.fullmatch(text):
            text = found[1] + found[2]
    return text.removesuffix(b"/").decode("ascii") or "/"


def _query(query: str) -> str:
    if not query:
        return ""
    text = _escaped(_unescaped(query))
    for session in _QUERY_SESSIONS:
        if found := session.match(text):
            text = found[1] + (found[2] or b"")
    arguments = [tuple(argument.split(b"=", 1)) for argument in text.lower().split(b"&")]
    return b"&".join(b"=".join(argument) for argument in sorted(arguments)).decode("ascii")


def _unescaped(text: str) -> bytes:
    """Decode escapes, including nested ones."""
    data = text.encode()
    while b"%" in data and (plain := unquote_to_bytes(data)) != data:
        data = plain
    return data


def _escaped(data: bytes) -> bytes:
    return quote_from_bytes(data, safe=_PLAIN).encode("ascii")
