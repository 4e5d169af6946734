"""Feeds: the pages that an RSS (0.9 to 2.0) or Atom file lists, with their dates.

References
----------
RSS 2.0 specification (RSS Advisory Board); RDF Site Summary 1.0; RFC 4287, The Atom Syndication Format.
"""

import re
from dataclasses import dataclass, field
from html import unescape
from typing import Final, NamedTuple

from evercrawl.parse.listings.xml_reader import XmlReader
from evercrawl.parse.pieces import texts
from evercrawl.parse.reading.markdown_words import address, words
from evercrawl.parse.urls import normalise

MAX_ENTRIES: Final = 10_000
MAX_FEED_BYTES: Final = 10 << 20  # inflated
MAX_FEED_ELEMENTS: Final = 200_000  # a feed is parsed in one step, 0.2 s for this many
MAX_DATE_CHARS: Final = 64
FEED_TYPES: Final = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
_XML_TYPES: Final = frozenset({"application/xml", "text/xml"})
_ENTRIES: Final = frozenset({"item", "entry"})
_CHANGED: Final = frozenset({"updated", "modified"})  # Atom 1.0; Dublin Core and Atom 0.3
_PUBLISHED: Final = frozenset({"pubDate", "published", "date", "issued"})  # RSS 2.0, Atom 1.0, Dublin Core, Atom 0.3
_ROOT: Final = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_LOOK_BYTES: Final = 4_096
MAX_TITLE_CHARS: Final = 300
_ABOUT: Final = frozenset({"title", "language"})
_PICTURES: Final = frozenset({"image", "textinput", "textInput"})
_MARKUP: Final = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")


class FeedEntry(NamedTuple):
    """One page that a feed or a sitemap lists.

    Attributes
    ----------
    url
        Normalised.
    dated
        Date of the last change or, failing that, of publication, as written; "" if missing.
    """

    url: str
    dated: str = ""


@dataclass(slots=True)
class Feed:
    """The contents of a feed.

    Attributes
    ----------
    entries
        Pages in file order, at most `MAX_ENTRIES`.
    own, home
        The feed's own address and the page it belongs to, normalised; "" if missing.
    trouble
        Why reading ended early, class first; "" where it did not.
    titles
        Of the entries, without markup and with white space folded; "" for an entry without a title.
    title, language
        Of the feed; "" if missing.
    """

    entries: list[FeedEntry] = field(default_factory=list[FeedEntry])
    own: str = ""
    home: str = ""
    trouble: str = ""
    titles: list[str] = field(default_factory=list[str])
    title: str = ""
    language: str = ""

    @property
    def text(self) -> str:
        """Its title, and those of its entries with their dates, one per line."""
        lines = (f"{title} {entry.dated}".strip() for entry, title in zip(self.entries, self.titles, strict=True))
        return "\n".join(line for line in (self.title, *lines) if line)

    @property
    def markdown(self) -> str:
        """The same as Markdown, each entry a link."""
        entries = (
            f"- [{words(title or entry.url)}]({address(entry.url)}){f' {words(entry.dated)}' if entry.dated else ''}"
            for entry, title in zip(self.entries, self.titles, strict=True)
        )
        return "\n\n".join(part for part in (self.title and f"# {words(self.title)}", "\n".join(entries)) if part)


class FeedElements:
    """A handler of a feed's elements (see `XmlReader`).

    Parameters
    ----------
    url
        The feed's URL, the base of its links.
    feed
        The object to fill.
    """

    def __init__(self, url: str, feed: Feed) -> None:
        self._feed = feed
        self._bases = [url]  # of the feed and of the entry
        self._entry_depth = 0
        self._picture_depth = 0  # RSS has images and text fields with titles of their own
        self._link = self._guid = self._changed = self._published = self._title = ""  # of the entry
        self._permanent = True

    @staticmethod
    def is_root(name: str) -> bool:
        """Return whether an element of this name is the root of a feed."""
        return _local(name) in ("rss", "RDF", "feed")

    def start(self, name: str, attributes: dict[str, str], depth: int) -> bool:
        """Handle the start of an element; return whether its text is needed."""
        local = _local(name)
        if depth <= 2 and not self._feed.language:
            self._feed.language = _tag(attributes.get("xml:lang", ""))
        if depth == 1:
            self._bases[0] = self._based(attributes)
        elif not self._entry_depth and local in _ENTRIES:
            self._entry_depth, self._bases[1:] = depth, [self._based(attributes)]
        elif local == "link" and "href" in attributes:
            self._linked(attributes, depth)
        elif self._entry_depth:
            wanted = local in ("link", "guid") or name == "title" or local in _CHANGED or local in _PUBLISHED
            self._permanent = local != "guid" or attributes.get("isPermaLink", "true").strip().lower() != "false"
            return wanted and depth == self._entry_depth + 1
        if local in _PICTURES and not self._picture_depth:
            self._picture_depth = depth
        own = not self._entry_depth and ":" not in name and depth <= 3
        return own and (local == "link" or (local in _ABOUT and not self._picture_depth))

    def end(self, name: str, text: str, depth: int) -> None:
        """Handle the end of an element."""
        if depth == self._picture_depth:
            self._picture_depth = 0
        elif depth == self._entry_depth:
            self._ended()
        elif text:
            self._said(_local(name), text)

    def _said(self, local: str, text: str) -> None:
        if not self._entry_depth:
            self._said_of_feed(local, text)
        elif local == "title":
            self._title = self._title or titled(text)
        elif local == "link":
            self._link = self._link or text
        elif local == "guid":
            self._guid = text if self._permanent else ""
        elif local in _CHANGED:
            self._changed = text[:MAX_DATE_CHARS]
        else:
            self._published = self._published or text[:MAX_DATE_CHARS]

    def _said_of_feed(self, local: str, text: str) -> None:
        if local == "title":
            self._feed.title = self._feed.title or titled(text)
        elif local == "language":
            self._feed.language = _tag(text)
        else:
            self._feed.home = self._feed.home or normalise(text, self._bases[-1]) or ""

    def _linked(self, attributes: dict[str, str], depth: int) -> None:
        """Handle a link in Atom's form, which also occurs in RSS."""
        rel = attributes.get("rel", "alternate").strip().lower()
        if self._entry_depth:
            if rel == "alternate" and depth == self._entry_depth + 1:
                self._link = self._link or self._based(attributes, "href")
            return
        if rel == "self":
            self._feed.own = normalise(attributes["href"], self._bases[0]) or ""
        elif rel == "alternate":
            self._feed.home = self._feed.home or normalise(attributes["href"], self._bases[0]) or ""

    def _ended(self) -> None:
        guid = self._guid if self._guid[:4].lower() == "http" else ""
        reference = self._link or guid
        url = normalise(reference, self._bases[-1]) if reference else None
        if url is not None and len(self._feed.entries) < MAX_ENTRIES:
            self._feed.entries.append(FeedEntry(url, self._changed or self._published))
            self._feed.titles.append(self._title)
        del self._bases[1:]
        self._entry_depth = 0
        self._forget()

    def _forget(self) -> None:
        self._link = self._guid = self._changed = self._published = self._title = ""
        self._permanent = True

    def _based(self, attributes: dict[str, str], name: str = "xml:base") -> str:
        reference = attributes.get(name)
        return (normalise(reference, self._bases[-1]) if reference else None) or self._bases[-1]


def read_feed(body: bytes, url: str, content_type: str = "") -> Feed:
    """Return the contents of a feed; for a broken one, the part before the fault.

    Parameters
    ----------
    body
        The decoded file; any bytes. Anything other than a feed gives an empty result.
    url
        Its URL, normalised.
    content_type
        The response's Content-Type.

    Examples
    --------
    >>> read_feed(b"<rss><channel><link>/</link><item><link>/a</link><pubDate>Sun, 06 Sep 2009 16:20:00 GMT</pubDate>"
    ...           b"</item></channel></rss>", "http://example.org/feed")
    Feed(entries=[FeedEntry(url='http://example.org/a', dated='Sun, 06 Sep 2009 16:20:00 GMT')],
         own='', home='http://example.org/', trouble='', titles=[''], title='', language='')
    """
    feed = Feed()
    elements = FeedElements(url, feed)
    reader = XmlReader(lambda name, _: elements if elements.is_root(name) else None, MAX_FEED_ELEMENTS)
    for text in texts(body, content_type, MAX_FEED_BYTES):
        reader.feed(text)
        if reader.trouble or len(feed.entries) >= MAX_ENTRIES:
            break
    else:
        reader.close()
    feed.trouble = reader.trouble
    return feed


def links_of_feed(body: bytes, url: str, content_type: str = "") -> list[str]:
    """Return the links of a feed: its entries, then the page it belongs to; distinct and normalised.

    Examples
    --------
    >>> links_of_feed(b"<feed><link href='/'/><entry><link href='a'/></entry></feed>", "http://example.org/atom.xml")
    ['http://example.org/a', 'http://example.org/']
    """
    return targets(read_feed(body, url, content_type))


def targets(feed: Feed) -> list[str]:
    """Return the links of a parsed feed: its entries, then the page it belongs to; distinct."""
    urls = dict.fromkeys(entry.url for entry in feed.entries)
    if feed.home:
        urls[feed.home] = None
    return list(urls)


def is_feed(body: bytes, mime: str) -> bool:
    """Return whether a body is a feed: by its media type, or as XML with a feed's root.

    Examples
    --------
    >>> is_feed(b"", "application/atom+xml"), is_feed(b"<?xml version='1.0'?><!-- x --><rss>", "text/xml")
    (True, True)
    >>> is_feed(b"<urlset>", "text/xml"), is_feed(b"<rss>", "text/html")
    (False, False)
    """
    if mime in _XML_TYPES:
        start = re.sub(rb"<!--.*?(?:-->|\Z)", b"", body[:_LOOK_BYTES].replace(b"\0", b""), flags=re.S)
        root = _ROOT.search(start)
        return root is not None and root[1] in (b"rss", b"RDF", b"feed")
    return mime in FEED_TYPES


def titled(text: str) -> str:
    """Return a title without markup, which some feeds escape, and with white space folded.

    >>> titled("A <b>bold</b>  claim &amp; more")
    'A bold claim & more'
    """
    plain = unescape(_MARKUP.sub("", text[: 4 * MAX_TITLE_CHARS]))
    return " ".join(plain.split())[:MAX_TITLE_CHARS]


def _tag(text: str) -> str:
    return text.strip() if _LANGUAGE.fullmatch(text.strip()) else ""


def _local(name: str) -> str:
    return name.rpartition(":")[2]
