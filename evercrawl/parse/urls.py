"""URLs by the WHATWG URL Standard, and the parts of a normalised one.

A *normalised* URL here is absolute, http or https, serialised by the URL Standard, without fragment and credentials,
and without the dot of the DNS root at the end of its host: `example.org.` and `example.org` are one name (RFC 1034,
section 3.1), so they are one host here, with one set of rules.
The functions that split one rely on that form and use no parser.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TypeAlias, Union

import ada_url
import can_ada

_Base: TypeAlias = Union[can_ada.URL, "_InternationalBase"]

MAX_URL_CHARS = 8_192
"""A longer URL, in normal form, is none: hardly a server takes one, and a page could make ten thousand of them."""

MAX_HOST_CHARS = 512
"""Twice what a name can have (RFC 1035, section 2.3.4): the URL Standard knows no limit, and hosts are remembered."""

MAX_LINKS_CHARS = 4 << 20
"""So much of a long address may its page's links repeat; those beyond lead nowhere."""

_WEB = ("http://", "https://")
_ACE = "xn--"  # prefix of a host's internationalised labels
_SEEN_MOST = 1 << 15  # links cached, about 10 MB
_SEEN_CHARS = 200
_MOST_CHARS = 8 * MAX_URL_CHARS  # of the href as written: white space, dots and references may shrink
_seen: dict[str, dict[str, str]] = {}  # folder of a page, or none -> href -> the link's URL, "" if it has none
_count = 0
_TOP = 3  # slashes of a site's top folder
_STEP = r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]*"
_plain = re.compile(rf"{_STEP}(?:/{_STEP})*").fullmatch  # no scheme, no `..`, and nothing to encode


def normalise(url: str, base: str | None = None) -> str | None:
    """Return `url`, resolved against `base`, in normal form; None if it cannot be requested over HTTP.

    Parameters
    ----------
    url
        Absolute, or relative to `base`; white space around and inside it is treated as in browsers.
    base
        Absolute URL.

    Examples
    --------
    >>> normalise("../b c?q=1#top", "http://Example.org:80/x/y/z")
    'http://example.org/x/b%20c?q=1'
    >>> normalise("https://user:secret@b\N{LATIN SMALL LETTER U WITH DIAERESIS}cher.example")
    'https://xn--bcher-kva.example/'
    >>> normalise("http://example.org./a")
    'http://example.org/a'
    >>> normalise("mailto:a@example.org") is None
    True
    """
    if len(url) > _MOST_CHARS:
        return None
    parsed = _parsed(base) if base is not None else None
    if base is not None and parsed is None:
        return None
    found = _trim(_serialised(parsed, url))
    return found if found is None or _fits(found) else None


def resolve(base: str, hrefs: Iterable[str]) -> list[str]:
    """Return the normal forms of `hrefs` against `base`: distinct, in order of first appearance.

    Examples
    --------
    >>> resolve("http://example.org/a/", ["b", "b#part", "/", "mailto:x", "./b"])
    ['http://example.org/a/b', 'http://example.org/']
    """
    return resolve_each(base, dict.fromkeys(hrefs))[0]


def resolve_each(base: str, hrefs: Iterable[str]) -> tuple[list[str], list[int]]:
    """Return the result of `resolve`, and for each of `hrefs` an index into it, -1 if it has no target.

    Examples
    --------
    >>> resolve_each("http://example.org/a/", ["b", "mailto:x", "./b"])
    (['http://example.org/a/b'], [0, -1, 0])
    """
    places = {"": -1}
    indices = [places.setdefault(url, len(places) - 1) for url in _urls(base, list(hrefs))]
    return list(places)[1:], indices


def unresolved(base: str, hrefs: Sequence[str]) -> int:
    """Return the number of `hrefs` at the end that are dropped because those before repeat `base` often enough.

    Examples
    --------
    >>> unresolved("http://example.org/" + 4_000 * "a", ["b"] * 1_100)
    57
    """
    parsed = _parsed(base)
    return 0 if parsed is None else max(len(hrefs) - MAX_LINKS_CHARS // len(parsed.href), 0)


def _urls(base: str, hrefs: list[str]) -> list[str]:
    """Return the normal form of each of `hrefs` against `base`, "" if it has none."""
    parsed = _parsed(base)
    if parsed is None:
        return [""] * len(hrefs)
    page = parsed.href
    folder = page.partition("?")[0].rpartition("/")[0]
    seen, most = _recall(folder), MAX_LINKS_CHARS // len(page)
    if len(hrefs) > most:
        return _urls(base, hrefs[:most]) + [""] * (len(hrefs) - most)
    urls = list(map(seen.get, hrefs, repeat("#")))
    if "#" not in urls:  # longer than any URL here
        return urls
    start = f"{folder}/" if folder.startswith(_WEB) and "@" not in folder else ""
    return [_look(parsed, start, seen, href) if url == "#" else url for href, url in zip(hrefs, urls, strict=True)]


def _recall(folder: str) -> dict[str, str]:
    """Return the cached links of the pages of a folder, which tend to repeat."""
    global _count
    if len(folder) > _SEEN_CHARS:
        return {}
    if _count >= _SEEN_MOST:
        _seen.clear()
        _count = 0
    _count += 1  # a folder without links also takes memory
    return _seen.setdefault(folder, {})


def _look(base: _Base, start: str, seen: dict[str, str], href: str) -> str:
    """Resolve and cache a link not seen before on the folder's pages; return its target, "" if it has none.

    `start` is the prefix of all plain links of the folder, "" if these must be parsed too.
    """
    global _count
    if len(href) > _MOST_CHARS:
        return ""
    folder, rest = _climbed(start, href) if href.startswith("../") else (start, href)
    plain = folder and _plain(rest)
    url = folder + rest if plain else _resolved(base, _cut(href) if "#" in href else href) or ""
    if not _fits(url):
        url = ""
    # only an empty href, a bare fragment or a bare query depends on the page itself
    if len(href) < _SEEN_CHARS and _count < _SEEN_MOST and (href[:1] > "?" or href[:1] in ("/", ".")):
        seen[href] = url
        _count += 1
    return url


def _climbed(folder: str, href: str) -> tuple[str, str]:
    """Return the folder reached by a link's steps `../`, and the rest of the link; at the top they have no effect."""
    while href.startswith("../") and folder.count("/") > _TOP:
        folder, href = f"{folder[:-1].rpartition('/')[0]}/", href[3:]
    return folder, href


def _resolved(base: _Base, href: str) -> str | None:
    if href.isascii() and "%" not in href:  # `normalise` in one step
        try:
            url = (base + href).href
        except ValueError:
            url = "#"
        if url.startswith(_WEB) and "@" not in url and "#" not in url and _ACE not in url and "^" not in url:
            return _without_root(url)
    return _trim(_serialised(base, href))


def _fits(url: str) -> bool:
    """Return whether a normalised URL and its host name are within the length limits."""
    size = len(url)
    return size < 256 or (size <= MAX_URL_CHARS and len(hostname(url)) <= MAX_HOST_CHARS)


def hostname(url: str) -> str:
    """Return the host of a normalised URL: lower case, no port, brackets kept.

    Examples
    --------
    >>> hostname("http://[2001:db8::1]:8080/"), hostname("https://example.org:8443/a")
    ('[2001:db8::1]', 'example.org')
    """
    authority = url.split("/", 3)[2]
    if ":" not in authority:
        return authority
    colon = authority.rfind(":")
    return authority[:colon] if colon > authority.rfind("]") else authority


def origin(url: str) -> str:
    """Return scheme, host and port of a normalised URL, without a default port.

    Examples
    --------
    >>> origin("https://example.org:8443/a?b")
    'https://example.org:8443'
    """
    return url[: url.find("/", 8)]


def port_of(url: str) -> str:
    """Return the port of a normalised URL; "" for the scheme's default port.

    >>> port_of("http://[2001:db8::1]:8080/a:1"), port_of("http://a.example/b:2"), port_of("http://[2001:db8::1]/")
    ('8080', '', '')
    """
    authority = url[: url.find("/", 8)]
    _, colon, port = authority.rpartition(":")
    return port if colon and port.isdecimal() else ""


def path_query(url: str) -> str:
    """Return the path, and the query with its question mark, of a normalised URL: the target of a request line.

    Examples
    --------
    >>> path_query("https://example.org/a?b")
    '/a?b'
    """
    return url[url.find("/", 8) :]


class _InternationalBase:
    """A base URL with an internationalised host: `base + href` is the URL that ada_url resolves from both."""

    def __init__(self, href: str) -> None:
        self.href = href

    def __add__(self, href: str) -> ada_url.URL:
        return ada_url.URL(href, self.href)


@lru_cache(maxsize=1024)
def _parsed(base: str) -> _Base | None:
    absolute = _serialised(None, base)
    if absolute is None:
        return None
    if absolute.startswith(_WEB) and "@" not in absolute:
        absolute = _without_root(absolute)
    return _InternationalBase(absolute) if _ACE in absolute else can_ada.parse(absolute)


def _serialised(base: _Base | None, url: str) -> str | None:
    """Return the URL as serialised by the standard; None if the standard reports failure.

    can_ada is the fast parser, and is correct for hosts that are not internationalised; its Unicode tables are older
    than the standard's, so URLs that may have such a host are parsed by ada_url, and their results never by can_ada,
    which would reject some. Nor does can_ada encode every ^ in a relative path.
    """
    if url.isascii() and "%" not in url:
        try:
            href = can_ada.parse(url).href if base is None else (base + url).href
        except ValueError:
            href = _ACE
        if _ACE not in href and "^" not in href:
            return href
    return _careful(url, None if base is None else base.href)


def _careful(url: str, base: str | None) -> str | None:
    try:
        return ada_url.URL(_scalar(url), base).href
    except ValueError:
        return None


def _scalar(text: str) -> str:
    """Return `text` with each lone surrogate replaced, as a browser's string conversion does."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _trim(url: str | None) -> str | None:
    """Return a serialised URL without fragment and credentials; None if its scheme is not http or https."""
    if url is None or not url.startswith(_WEB):
        return None
    if "#" in url:
        url = url[: url.find("#")]
    if "@" in url:
        start = url.find("//") + 2
        at = url.rfind("@", start, url.find("/", 8))
        if at > 0:
            url = url[:start] + url[at + 1 :]
    return _without_root(url)


def _without_root(url: str) -> str:
    """Return a serialised URL without the dot of the DNS root at the end of its host; `http://./` has no other name."""
    if "./" not in url and ".:" not in url:
        return url
    host = hostname(url)
    if host[-1:] != "." or host[-2:-1] in ("", "."):
        return url
    at = url.find("//") + 1 + len(host)
    return url[:at] + url[at + 1 :]


def _cut(href: str) -> str:
    """Return `href` up to its fragment, unless that would lose white space before the `#`."""
    hash_at = href.find("#")
    return href if hash_at and href[hash_at - 1] <= " " else href[:hash_at]
