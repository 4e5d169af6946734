"""Aspects of a page: separate digests of its content, structure and presentation, which classify changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import xxhash

from evercrawl.parse.encoding import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOKS: Final = frozenset({
    "b", "basefont", "big", "center", "em", "font", "hr", "i", "mark", "s", "small", "span", "strike", "strong",
    "style", "sub", "sup", "tt", "u", "wbr",
})  # fmt: skip
"""Elements that say how text looks."""
_UNSEEN: Final = frozenset({"base", "link", "meta", "noscript", "script", "style", "template", "title"})
_SHOWN: Final = frozenset({
    "align", "alink", "background", "bgcolor", "border", "cellpadding", "cellspacing", "class", "color", "face",
    "height", "hspace", "id", "link", "size", "style", "text", "valign", "vlink", "vspace", "width",
})  # fmt: skip
"""Attributes that say how elements look; `id` and `class` are what style sheets go by."""
_LEADS: Final = ("href", "src", "action")


class Aspects(NamedTuple):
    """Digests of 64 bits.

    Attributes
    ----------
    content
        Of the visible words.
    structure
        Of the nested elements, and the targets of links, pictures and forms; without presentational elements.
    presentation
        Of style sheets, and of presentational elements and attributes.
    """

    content: int
    structure: int
    presentation: int


def aspects(body: bytes, content_type: str = "") -> tuple[Aspects, str]:
    """Return the aspects of an HTML page, and its words.

    Examples
    --------
    >>> one, words = aspects(b"<p class=a>To be <b>or</b> not</p><script>1</script>")
    >>> words
    'To be or not'
    >>> other, _ = aspects(b"<p class=b>To be <i>or</i> not</p><script>2</script>")
    >>> [a == b for a, b in zip(one, other)]
    [True, True, False]
    >>> other, _ = aspects(b"<div><p class=a>To be <b>or</b> not</p></div>")
    >>> [a == b for a, b in zip(one, other)]
    [True, False, True]
    """
    import turbohtml  # imported late: 70 ms that a crawl never needs

    tree = turbohtml.parse(decode(body, content_type)[0], positions=False)
    structure, look = xxhash.xxh3_64(), xxhash.xxh3_64()
    for depth, element in _elements(tree):
        tag, attributes = element.tag, dict(element.attrs)
        shown = [f"{name}={attributes[name]}" for name in sorted(_SHOWN & attributes.keys())]
        sheet = tag == "style" or (tag == "link" and "stylesheet" in str(attributes.get("rel", "")).lower())
        if tag in _LOOKS or sheet or shown:
            said = [element.text if tag == "style" else str(attributes.get("href", ""))] if sheet else []
            look.update("\0".join([tag if tag in _LOOKS else "", *shown, *said, "\1"]).encode("utf-8", "replace"))
        if tag not in _LOOKS and tag not in _UNSEEN:
            leads = [f"{name}={attributes[name]}" for name in _LEADS if name in attributes]
            structure.update("\0".join([str(depth), tag, *leads, "\1"]).encode("utf-8", "replace"))
    for name in ("template", "noscript", "script", "style"):
        if tree.find(name) is not None:
            tree.remove(name)
    words = " ".join(" ".join(tree.strings).split())
    content = xxhash.xxh3_64_intdigest(words.encode("utf-8", "replace"))
    return Aspects(content, structure.intdigest(), look.intdigest()), words


def _elements(tree: Any) -> Iterator[tuple[int, Any]]:
    """Yield all elements in document order, with their depth, ignoring presentational elements."""
    waiting: list[tuple[int, Any]] = [(0, child) for child in reversed(list(tree.children))]
    while waiting:
        depth, node = waiting.pop()
        tag = getattr(node, "tag", None)
        if isinstance(tag, str):
            yield depth, node
            below = depth + (tag not in _LOOKS)
            waiting += [(below, child) for child in reversed(list(node.children))]
