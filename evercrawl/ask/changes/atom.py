"""Changes as an Atom feed (RFC 4287)."""

import re
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final
from xml.etree import ElementTree

from evercrawl.ask.changes.page_change import PageChange
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.ask.changes.texts import WordDiff

ENTRIES: Final = 1_000
"""Maximum number of entries of a feed."""
_NAMESPACE: Final = "http://www.w3.org/2005/Atom"
_TITLE_CHARS: Final = 300
_NO_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAGS: Final = {"went": "del", "came": "ins"}


def atom(
    changes: Sequence[tuple[PageChange, WordDiff | None]], crawl: str, question: ChangeQuestion, now: float
) -> bytes:
    """Return a feed of changes, in the given order.

    The identifier of an entry depends only on the crawl and the sequence number of the change, that of the feed on the
    crawl, site and pattern, so feed readers show no entry twice.

    Parameters
    ----------
    changes
        The changes, each with the words that changed, or None to omit them.
    crawl
        Id of the crawl.
    question
        The query: its site and pattern are part of the title.
    now
        Instant of an empty feed, in seconds since the epoch.
    """
    ElementTree.register_namespace("", _NAMESPACE)
    feed = ElementTree.Element(_name("feed"))
    about = " ".join(part for part in (question.site, question.pattern) if part)
    _text(feed, "title", f"Changes{f' of {about}' if about else ''}")
    _text(feed, "id", _urn(f"{crawl} {question.site} {question.pattern}"))
    _text(feed, "updated", _date(max((change.at for change, _ in changes), default=now)))
    _text(ElementTree.SubElement(feed, _name("author")), "name", "evercrawl")
    _text(feed, "generator", "evercrawl")
    for change, diff in changes[:ENTRIES]:
        _entry(feed, change, diff, crawl)
    made: bytes = ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True)
    return made


def _entry(feed: ElementTree.Element, change: PageChange, diff: WordDiff | None, crawl: str) -> None:
    entry = ElementTree.SubElement(feed, _name("entry"))
    _text(entry, "title", f"{change.title[:_TITLE_CHARS] or change.url} ({change.kind})")
    _text(entry, "id", _urn(f"{crawl} {change.sequence}"))
    _text(entry, "updated", _date(change.at))
    ElementTree.SubElement(entry, _name("link"), href=_clean(change.url), rel="alternate")
    ElementTree.SubElement(entry, _name("category"), term=change.kind)
    extent = f", {change.extent:.0%} of the page" if change.kind == "changed" else ""
    _text(entry, "summary", f"{change.kind}{extent}")
    if diff is not None and diff.pieces:
        _text(entry, "content", _html(diff)).set("type", "html")


def _html(diff: WordDiff) -> str:
    """Return a word diff as HTML, with the pages' text escaped."""
    parts = list[str]()
    for what, words in diff.pieces:
        tag, text = _TAGS.get(what), escape(words) if what != "skip" else "&#8230;"
        parts.append(f"<{tag}>{text}</{tag}>" if tag else text)
    return f"<p>{' '.join(parts)}{' &#8230;' if diff.cut else ''}</p>"


def _text(parent: ElementTree.Element, name: str, text: str) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, _name(name))
    element.text = _clean(text)
    return element


def _clean(text: str) -> str:
    """Return a text with characters that XML does not allow replaced."""
    return _NO_XML.sub("\ufffd", text)


def _name(name: str) -> str:
    return f"{{{_NAMESPACE}}}{name}"


def _urn(text: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"evercrawl {text}").urn


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
