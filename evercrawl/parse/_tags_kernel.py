"""Compiled tag parser: the action for each tag, and its attributes (HTML standard, section 13.2.5)."""

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled
from evercrawl.kernels.eight import EACH, below, eight, equal, first, upto_eight
from evercrawl.parse._bytes_kernel import Bytes, Spans, blank, ends_name, upto
from evercrawl.parse._entities_kernel import PRIME, SEED

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
_SLASH, _CLOSE, _EQUALS = (np.uint64(c) * EACH for c in b"/>=")
_SMALL = np.uint64(0x20) * EACH


def named(name: str) -> int:
    """Return the number that identifies a lower-case name: a hash of eight bytes at a time."""
    code = int(SEED)
    for at in range(0, len(name), 8):
        code = (code ^ int.from_bytes(name[at : at + 8].encode(), "little")) * int(PRIME) & 0xFFFFFFFFFFFFFFFF
        code ^= code >> 32
    return code


def _tags() -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return an open-addressing table of tag name -> action at such a tag."""
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

IN_HEAD = np.array([k in (RAW, TITLE, SCRIPT, TEMPLATE, NOSCRIPT, BASE, LINK, META, HTML) for k in range(HTML + 1)])
"""Which kinds of element may stand in a page's head (HTML standard, section 13.2.6.4.4); any other begins its body."""

_ATTRIBUTES = ["href", "rel", "src", "name", "content", "http-equiv", "lang", "type"]
_HEAD, _BASEFONT, _BGSOUND = (np.uint64(named(name)) for name in ("head", "basefont", "bgsound"))
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
def _name_end(src: Bytes, i: int, n: int, start: int, equals: bool) -> int:
    """Return the position after the name from `start` that continues at `i`; with `equals`, `=` ends it too."""
    while i + 8 <= n:
        text = eight(src, i)
        ends = below(text, 33) | equal(text, _SLASH) | equal(text, _CLOSE)
        if equals:
            ends |= equal(text, _EQUALS)
        hop = first(ends)
        i += hop
        if hop < 8:
            break
    while i < n and not ends_name(src[i]) and (not equals or src[i] != 61 or i == start):
        i += 1
    return i


@compiled
def _code(src: Bytes, i: int, end: int) -> np.uint64:
    """Return the number that identifies the name at `i`, ignoring case; equal to `named`."""
    code = SEED
    while i < end:
        size = min(end - i, 8)
        text = upto_eight(src, i) & np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * size)
        # no known name has a byte that this mistakes for a letter
        code = (code ^ (text | _SMALL >> np.uint64(64 - 8 * size))) * PRIME
        code ^= code >> np.uint64(32)
        i += 8
    return code


@compiled
def tag_name(src: Bytes, i: int, n: int) -> tuple[int, int]:
    """Return the kind of the tag whose name starts at `i`, and the position after the name."""
    end = _name_end(src, i, n, i, False)
    return _kind(_code(src, i, end)), end


@compiled
def opens_head(src: Bytes, i: int, end: int) -> bool:
    """Return whether the name from `i` to `end` is `head`, `basefont` or `bgsound`, which have no own kind."""
    code = _code(src, i, end)
    return bool((code == _HEAD) | (code == _BASEFONT) | (code == _BGSOUND))


@compiled
def attributes(src: Bytes, i: int, n: int, values: Spans, keep: bool) -> int:
    """Parse the attributes of a tag from `i`; return the position after its `>`, or -1 if the page ends before it.

    values[k] becomes the span of the value of the k-th wanted attribute, the first of its name; (-1, -1) if absent.
    Without `keep` nothing is stored.
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
        start = i
        i = _name_end(src, i + (src[i] == 61), n, start, True)
        code = _code(src, start, i) if keep else SEED
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
