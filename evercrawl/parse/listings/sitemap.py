"""Sitemaps: the pages that a site lists, with their dates; XML, plain text, or a feed, optionally as .gz.

References
----------
The sitemaps protocol, https://www.sitemaps.org/protocol.html
"""

import re
from dataclasses import dataclass, field
from typing import Final

from evercrawl.parse.listings.feed import MAX_DATE_CHARS, Feed, FeedElements, FeedEntry
from evercrawl.parse.listings.xml_reader import Elements, XmlReader
from evercrawl.parse.pieces import MAX_BYTES, texts
from evercrawl.parse.urls import normalise

MAX_URLS: Final = 50_000
"""How many URLs one file may list by the protocol; what comes after them is not read."""

MAX_URL_CHARS: Final = 2_048
"""The protocol's limit; a longer one is left out."""

_MAX_LINES: Final = 4 * MAX_URLS
_WEB: Final = re.compile(r"https?://", re.I)
_LINES: Final = re.compile(r"[\r\n]+")


@dataclass(slots=True)
class Sitemap:
    """The contents of a sitemap.

    Attributes
    ----------
    kind
        "urlset", "index", "feed" or "text"; "" if the file is no sitemap.
    pages, children
        The pages and further sitemaps it lists, in file order, with normalised URLs.
    trouble
        Why reading ended early, class first; "" where it did not.
    """

    kind: str = ""
    pages: list[FeedEntry] = field(default_factory=list[FeedEntry])
    children: list[FeedEntry] = field(default_factory=list[FeedEntry])
    trouble: str = ""


class SitemapReader:
    """An incremental reader, which lets its caller do other work between steps.

    Parameters
    ----------
    body
        The file with content codings decoded; any bytes. Parsing starts with the first step.
    url
        Its URL, normalised.
    content_type
        The response's Content-Type.
    most_urls, most_bytes
        Limits at which reading stops; bytes are counted after inflating.

    Attributes
    ----------
    sitemap
        The contents read so far; its lists grow.

    Examples
    --------
    >>> reader = SitemapReader(b"<urlset><url><loc>http://example.org/</loc></url></urlset>", "http://example.org/s.xml")
    >>> while reader.step():
    ...     pass
    >>> reader.sitemap.pages
    [FeedEntry(url='http://example.org/', dated='')]
    """

    def __init__(
        self, body: bytes, url: str, content_type: str = "", most_urls: int = MAX_URLS, most_bytes: int = MAX_BYTES
    ) -> None:
        self.sitemap = Sitemap()
        self._url = url
        self._texts = texts(body, content_type, most_bytes)
        self._most = most_urls
        self._xml: XmlReader | None = None
        self._line, self._lines = "", 0  # the last, unfinished line; number of lines
        self._feed: Feed | None = None

    def step(self) -> bool:
        """Read about 64 KiB; return whether there may be more."""
        text = next(self._texts, None)
        if text is None:
            self._close()
            return False
        if self._xml is None and not self.sitemap.kind:
            self._begin(text)
        if self._xml is not None:
            self._xml.feed(text)
            self._collect()
        elif self.sitemap.kind == "text":
            self._read_lines(text)
        return not self.sitemap.trouble

    def _begin(self, text: str) -> None:
        if text.startswith("<"):
            self._xml = XmlReader(self._kind_of)
        elif _WEB.match(text):
            self.sitemap.kind = "text"
        else:
            self.sitemap.trouble = "other: neither XML nor a list of addresses"

    def _kind_of(self, name: str, attributes: dict[str, str]) -> Elements | None:
        prefix, _, local = name.rpartition(":")
        if local in ("urlset", "sitemapindex"):
            self.sitemap.kind = "urlset" if local == "urlset" else "index"
            return _Listed(self._url, f"{prefix}:" if prefix else "", self.sitemap)
        if FeedElements.is_root(name):
            self.sitemap.kind, self._feed = "feed", Feed()
            return FeedElements(self._url, self._feed)
        return None

    def _collect(self) -> None:
        """Process the results of a piece: a feed's entries, the limit on URLs, trouble."""
        assert self._xml is not None
        if self._feed is not None:
            self.sitemap.pages += self._feed.entries
            self._feed.entries = []
        self._cut()
        self.sitemap.trouble = self.sitemap.trouble or self._xml.trouble

    def _cut(self) -> None:
        """Drop entries beyond the limit."""
        sitemap = self.sitemap
        if len(sitemap.pages) + len(sitemap.children) > self._most:
            del sitemap.children[self._most :]
            del sitemap.pages[self._most - len(sitemap.children) :]
            sitemap.trouble = f"many: more than {self._most} URLs"

    def _read_lines(self, text: str) -> None:
        *lines, self._line = _LINES.split(self._line + text)
        self._list(lines)
        if len(self._line) > MAX_URL_CHARS:
            self._line = self._line[: MAX_URL_CHARS + 1]  # already too long: must not grow

    def _list(self, lines: list[str]) -> None:
        for line in lines:
            url = normalise(line) if len(line) <= MAX_URL_CHARS and _WEB.match(line.lstrip()) else None
            if url is not None:
                self.sitemap.pages.append(FeedEntry(url))
        self._cut()
        self._lines += len(lines)
        if self._lines > _MAX_LINES and not self.sitemap.trouble:
            self.sitemap.trouble = f"many: more than {_MAX_LINES} lines"

    def _close(self) -> None:
        if self._xml is not None:
            self._xml.close()
            self._collect()
        elif self.sitemap.kind == "text":
            self._list([self._line])


class _Listed:
    """A handler of the elements of a sitemap or index; those of extensions (images, videos) have another prefix."""

    def __init__(self, url: str, prefix: str, sitemap: Sitemap) -> None:
        self._url = url
        self._into = {f"{prefix}url": sitemap.pages, f"{prefix}sitemap": sitemap.children}
        self._loc, self._lastmod = f"{prefix}loc", f"{prefix}lastmod"
        self._at = self._dated = ""

    def start(self, name: str, attributes: dict[str, str], depth: int) -> bool:
        return depth == 3 and (name in (self._loc, self._lastmod))

    def end(self, name: str, text: str, depth: int) -> None:
        if depth == 3:
            if name == self._loc:
                self._at = text
            elif name == self._lastmod:
                self._dated = text[:MAX_DATE_CHARS]
        elif depth == 2:
            into = self._into.get(name)
            url = normalise(self._at, self._url) if self._at and len(self._at) <= MAX_URL_CHARS else None
            if into is not None and url is not None:
                into.append(FeedEntry(url, self._dated))
            self._at = self._dated = ""


def read_sitemap(body: bytes, url: str, content_type: str = "") -> Sitemap:
    r"""Return the contents of a whole sitemap; for a broken one, the part before the fault.

    Examples
    --------
    >>> read_sitemap(b"http://example.org/a\nhttp://example.org/b", "http://example.org/s.txt").pages
    [FeedEntry(url='http://example.org/a', dated=''), FeedEntry(url='http://example.org/b', dated='')]
    """
    reader = SitemapReader(body, url, content_type)
    while reader.step():
        pass
    return reader.sitemap


def may_list(sitemap: str, url: str) -> bool:
    """Return whether a sitemap may list a URL by its location alone: only URLs in its folder or below.

    Examples
    --------
    >>> may_list("http://example.org/shop/sitemap.xml", "http://example.org/shop/a")
    True
    >>> may_list("http://example.org/shop/sitemap.xml", "http://example.org/")
    False
    """
    return url.startswith(sitemap.partition("?")[0].rpartition("/")[0] + "/")
