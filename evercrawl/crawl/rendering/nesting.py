"""The nesting depth of a page's elements: a browser's time and memory grow with its square."""

from __future__ import annotations

import re
from typing import Final

MOST_NESTED: Final = 10_000
"""The greatest nesting depth. A deeper page takes a browser seconds and hundreds of megabytes, and gains nothing."""
LOOKED_AT_BYTES: Final = 1 << 19
"""The part of a page that is examined; such pages are recognised by it."""
_TAG: Final = re.compile(rb"<(?:(!--)|(/?)([a-zA-Z][^\s/<>]*+)([^<>]*+)>)")
_RAW: Final = frozenset((b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes"))
_RAW_END: Final = re.compile(rb"</(?:script|style|textarea|title|xmp|iframe|noembed|noframes)", re.IGNORECASE)
_FLAT: Final = frozenset(  # elements without an end tag, or whose end tag is often omitted
    b"area base br col embed hr img input link meta param source track wbr "
    b"html head body p li dt dd option optgroup rb rt rtc rp tr td th thead tbody tfoot colgroup caption".split()
)


def too_deep(body: bytes, most: int = MOST_NESTED) -> bool:
    """Whether more than `most` elements are open at once at the beginning of a page.

    Linear in the size of the page, without a tree: an element that is never closed counts as open, as in a browser.
    A page made for the purpose can nest deeper than is seen here; then the browser's own limits apply.

    Examples
    --------
    >>> [too_deep(b"<div><b>" * n, 8) for n in (4, 5)]
    [False, True]
    >>> too_deep(b"<p>a<br><div>b</div><svg><path/></svg><script>'<b><b>'</script><!-- <b> -->" * 9, 8)
    False
    """
    depth = at = 0
    while (found := _TAG.search(body, at, LOOKED_AT_BYTES)) is not None:
        at = found.end()
        comment, end, tag, rest = found.groups()
        if comment:
            at = body.find(b"-->", at)
        elif (name := tag.lower()) in _RAW and not end:
            closing = _RAW_END.search(body, at)
            at = closing.end() if closing is not None else -1
        elif name not in _FLAT and not rest.endswith(b"/"):
            depth = max(depth - 1, 0) if end else depth + 1
            if depth > most:
                return True
        if at < 0:
            return False
    return False
