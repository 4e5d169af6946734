"""The HTML tree parser, for tasks that need a tree."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from evercrawl.parse.encoding import decode
from evercrawl.parse.urls import normalise
from evercrawl.types import Link

if TYPE_CHECKING:
    import turbohtml

MAX_ANCHOR = 1_000
"""Characters of an anchor text that are kept."""

_SOURCES = {"a": "href", "area": "href", "iframe": "src", "frame": "src"}


def links(body: bytes, url: str, content_type: str = "", limit: int = 10_000) -> list[Link]:
    """Return the web links of a page in document order, at most `limit`, including those that must not be followed.

    Examples
    --------
    >>> links(b"<a href=b rel=nofollow>A <b>link</b></a>", "http://example.org/a")
    [Link(target='http://example.org/b', rel='nofollow', anchor='A link')]
    """
    tree = parsed(body, content_type)
    base = base_of(tree, url)
    found: list[Link] = []
    for element in tree.find_all(list(_SOURCES), limit=limit):
        reference = element.attr(_SOURCES[element.tag])
        target = None if reference is None else normalise(reference, base)
        if target is not None:
            rel = " ".join((element.attr("rel") or "").lower().split())
            found.append(Link(target, rel, _anchor(element)))
    return found


def parsed(body: bytes, content_type: str) -> turbohtml.Document:
    """Return the tree of a page, without invisible elements."""
    import turbohtml  # imported late: 70 ms that a crawl never needs

    tree = turbohtml.parse(decode(body, content_type)[0], positions=False)
    for name in ("template", "noscript", "script", "style"):
        if tree.find(name) is not None:
            tree.remove(name)
    return tree


def base_of(tree: turbohtml.Document, url: str) -> str:
    """Return the base URL of a page's relative links."""
    element = tree.find("base", attrs={"href": True})
    reference = element.attr("href") if element else None
    return (normalise(reference, url) if reference else None) or url


def _anchor(element: turbohtml.Element) -> str:
    """Return the words of a link; for a picture its alternative text."""
    words = " ".join(" ".join(islice(element.strings, MAX_ANCHOR)).split())
    if not words:
        image = element.find("img")
        words = (image.attr("alt") or "") if image else ""
    return _scalar(words[:MAX_ANCHOR])


def _scalar(text: str) -> str:
    """Return `text` made valid for UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
