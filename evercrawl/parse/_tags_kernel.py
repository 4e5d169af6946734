"""Tags: what is done at which, and their attributes (HTML standard, section 13.2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.parse._bytes_kernel import Bytes, Spans, blank, ends_name, lower, upto
from evercrawl.parse._entities_kernel import PRIME, SEED, named

if TYPE_CHECKING:
    from numpy.typing import NDArray

INLINE, BREAK, RAW, TITLE, TEXTAREA, SCRIPT, TEMPLATE, NOSCRIPT, FOREIGN, PLAIN = range(10)
ANCHOR, AREA, FRAME, BASE, LINK, META, HTML = range(10, 17)
HREF, REL, SRC, NAME, CONTENT, EQUIV, LANG, TYPE, VALUES = range(9)

_TAGS = {
    "style noembed noframes xmp": RAW,
    "title": TITLE,
    "textarea": TEXTAREA,
    "script": SCRIPT,
    "template": TEMPLATE,
    "noscript": NOSCRIPT,
    "svg math": FOREIGN,
    "plaintext": PLAIN,
    "a": ANCHOR,
    "area": AREA,
    "frame iframe": FRAME,
    "base": BASE,
    "link": LINK,
    "meta": META,
    "html": HTML,
    "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q ruby rb s samp small span "
    "strike strong sub sup time tt u var wbr": INLINE,
}
_TAG_SLOTS = 256


def _tags() -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return an open-addressing table of tag name -> what is done at such a tag."""
    names, kinds = np.zeros(_TAG_SLOTS, np.uint64), np.full(_TAG_SLOTS, BREAK, np.int64)
    for group, kind in _TAGS.items():
        for name in group.split():
            at = named(name) % _TAG_SLOTS
            while names[at]:
                at = (at + 1) % _TAG_SLOTS
            names[at], kinds[at] = named(name), kind
    return names, kinds


_NAMES, _KINDS = _tags()
BREAKS = np.array([k in (BREAK, TITLE, TEXTAREA, FOREIGN, PLAIN, FRAME, HTML) for k in range(HTML + 1)])
"""Which kinds of tag part the words before from those behind."""

_ATTRIBUTES = ["href", "rel", "src", "name", "content", "http-equiv", "lang", "type"]
_WANTED = np.array([named(name) for name in _ATTRIBUTES], np.uint64)


@compiled
def _kind(code: np.uint64) -> int:
    at = np.int64(code % np.uint64(_TAG_SLOTS))
    while _NAMES[at] != 0:
        if _NAMES[at] == code:
            return int(_KINDS[at])
        at = (at + 1) % _TAG_SLOTS
    return BREAK


@compiled
def tag_name(src: Bytes, i: int, n: int) -> tuple[int, int]:
    """Return the kind of the tag whose name starts at `i`, and the place behind the name."""
    code = SEED
    while i < n and not ends_name(src[i]):
        code = (code ^ np.uint64(lower(src[i]))) * PRIME
        i += 1
    return _kind(code), i


@compiled
def attributes(src: Bytes, i: int, n: int, values: Spans, keep: bool) -> int:
    """Read the attributes of a tag from `i`; return the place behind its `>`, or -1 where the page ends within it.

    values[k] becomes the span of the value of the k-th wanted attribute, the first of a name; (-1, -1) where absent.
    Without `keep` nothing is kept.
    """
    if keep:
        values[:] = -1
    while True:
        while i < n and (blank(src[i]) or src[i] == 47):
            i += 1
        if i >= n:
            return -1
        if src[i] == 62:
            return i + 1
        code, first = SEED, i
        while i < n and not ends_name(src[i]) and (src[i] != 61 or i == first):
            if keep:
                code = (code ^ np.uint64(lower(src[i]))) * PRIME
            i += 1
        while i < n and blank(src[i]):
            i += 1
        start = end = i
        if i < n and src[i] == 61:
            i += 1
            while i < n and blank(src[i]):
                i += 1
            if i < n and (src[i] == 34 or src[i] == 39):
                start = i + 1
                end = upto(src, start, n, src[i])
                i = end + 1
            else:
                start = i
                while i < n and src[i] != 62 and not blank(src[i]):
                    i += 1
                end = i
        if keep:
            for k in range(len(_WANTED)):
                if _WANTED[k] == code and values[k, 0] < 0:
                    values[k, 0], values[k, 1] = start, end
