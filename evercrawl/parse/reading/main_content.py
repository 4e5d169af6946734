"""The main content of a page, without navigation, margins, advertisements and forms.

Resiliparse decides which texts are main content. It returns words only, so every text of the tree is first marked
with its number, and texts whose mark does not come back are removed from the tree. Two rules refine the result. If a
page names one element as its main part (`<main>`, a sole `<article>`), everything outside is removed, and if almost
nothing of that part was kept, as for an index that is all links, all of it is kept. And if one element contains
nearly all of the kept text, by turbohtml's scoring, the rest is removed: teasers and boxes that look like text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import turbohtml

MOST_DEPTH: Final = 300
"""Elements within each other; resiliparse takes quadratic time in this, so deeper pages are kept whole."""

MOST_CHARS: Final = 4_000_000
"""Of HTML; larger pages are kept whole."""

LEAST_CHARS: Final = 300
"""Of text; smaller pages lose only what they call navigation, margin or footer."""

LEAST_OF_LANDMARK: Final = 0.2
"""Share of the named main part that has to be kept; else all of it is."""

MOST_OUTSIDE: Final = 0.7
"""Share of what was kept that may lie outside the named main part; else the name is not believed."""

LEAST_INSIDE: Final = 0.7
"""Share of what was kept that one element has to have, so that the rest goes."""

_LANDMARKS: Final = ("main", "[role=main]", "article", "[itemprop=articleBody]")
_MARGINS: Final = "nav, footer, aside, [role=navigation]"
_MARKED: Final = re.compile("\ue000([0-9a-f]+)\ue001")
_TOO_DEEP: Final = f"//*[ancestor::*[{MOST_DEPTH}]]"


def main_content(tree: turbohtml.Document) -> turbohtml.Element | None:
    """Remove from a tree everything but the main content, and return the element that contains it.

    Parameters
    ----------
    tree
        The page's tree, without scripts and styles; it is modified.

    Returns
    -------
    turbohtml.Element or None
        The body, or a part of it; the whole body if nothing is main content. None if there is no body.

    Examples
    --------
    >>> import turbohtml
    >>> page = "<nav><a href=/>Home</a> <a href=/b>B</a></nav><p>A long story.</p><footer>Imprint</footer>"
    >>> main_content(turbohtml.parse(page)).to_text()
    'A long story.'
    """
    body = tree.find("body")
    if body is None or tree.xpath_one(_TOO_DEEP) is not None:
        return body
    texts = _texts(body)
    small = sum(len(data) for _, data in texts) < LEAST_CHARS
    kept = _outside_margins(texts) if small else _kept(tree, texts)
    if kept is None:
        return body
    landmark = _landmark(tree)
    if landmark is not None and _size(landmark) > 0:
        before = _size(landmark)
        _blank(texts, kept)
        inside, all_kept = _size(landmark), _size(body)
        if all_kept < LEAST_OF_LANDMARK * before:
            _restore(texts)
            return landmark
        if inside >= (1 - MOST_OUTSIDE) * all_kept > 0:
            return _densest(tree, landmark, inside)
    else:
        _blank(texts, kept)
    if not (size := _size(body)):
        _restore(texts)
        return body
    return _densest(tree, body, size)


def _texts(body: turbohtml.Element) -> list[tuple[turbohtml.Text, str]]:
    """Return every text that is not blank, with its contents."""
    import turbohtml

    texts = [node for node in body.descendants if isinstance(node, turbohtml.Text)]
    return [(node, data) for node in texts if (data := node.data).strip()]


def _outside_margins(texts: list[tuple[turbohtml.Text, str]]) -> set[int]:
    """Return the numbers of the texts outside elements meant for anything but content."""
    parents = ((number, node.parent) for number, (node, _) in enumerate(texts))
    return {number for number, parent in parents if parent is None or parent.closest(_MARGINS) is None}


def _kept(tree: turbohtml.Document, texts: list[tuple[turbohtml.Text, str]]) -> set[int] | None:
    """Return the numbers of the main-content texts; None if there are too many to classify."""
    from resiliparse.extract.html2text import extract_plain_text

    for number, (node, data) in enumerate(texts):
        node.data = f"\ue000{number:x}\ue001{data}"
    source = tree.serialize()
    _restore(texts)
    if len(source) > MOST_CHARS:
        return None
    said = extract_plain_text(source, main_content=True, alt_texts=False)
    return {int(number, 16) for number in _MARKED.findall(said)}


def _blank(texts: list[tuple[turbohtml.Text, str]], kept: set[int]) -> None:
    for number, (node, _) in enumerate(texts):
        if number not in kept:
            node.data = ""


def _restore(texts: list[tuple[turbohtml.Text, str]]) -> None:
    for node, data in texts:
        node.data = data


def _landmark(tree: turbohtml.Document) -> turbohtml.Element | None:
    """Return the element that the page names as its main part, if it names one."""
    for selector in _LANDMARKS:
        found = tree.select(selector)
        if len(found) == 1:
            return found[0]
    return None


def _densest(tree: turbohtml.Document, within: turbohtml.Element, size: int) -> turbohtml.Element:
    """Return the element that contains nearly all of `size` characters, if there is one."""
    found = tree.main_content()
    return found if found is not None and LEAST_INSIDE * size <= _size(found) < size else within


def _size(element: turbohtml.Element) -> int:
    """Return the number of characters of a text without white space."""
    return len("".join(element.text.split()))
