"""The tokeniser of the HTML standard (section 13.2.5), in the parts that a scan for text and links needs."""

from __future__ import annotations

import numpy as np
from numba import njit

from evercrawl.parse._entities_kernel import PRIME, SEED, named

INLINE, BREAK, RAW, TITLE, TEXTAREA, SCRIPT, TEMPLATE, NOSCRIPT, FOREIGN, PLAIN = range(10)
ANCHOR, AREA, FRAME, BASE, LINK, META, HTML = range(10, 17)
HREF, REL, SRC, NAME, CONTENT, EQUIV, LANG, VALUES = range(8)

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


def _tags() -> tuple[np.ndarray, np.ndarray]:
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
_WANTED = np.array([named(name) for name in "href rel src name content http-equiv lang".split()], np.uint64)
_SCRIPT, _OPEN, _CLOSE = (np.frombuffer(word, np.uint8) for word in (b"script", b"<!--", b"-->"))
_CLASS = np.zeros(256, np.uint8)
_CLASS[[9, 10, 12, 13, 32]], _CLASS[[47, 62]] = 1, 2


@njit(nogil=True, cache=True)
def blank(c):
    return _CLASS[c] == 1


@njit(nogil=True, cache=True)
def _lower(c):
    return np.uint8(c + 32) if 65 <= c <= 90 else c


@njit(nogil=True, cache=True)
def _kind(code):
    at = np.int64(code % np.uint64(_TAG_SLOTS))
    while _NAMES[at] != 0:
        if _NAMES[at] == code:
            return _KINDS[at]
        at = (at + 1) % _TAG_SLOTS
    return BREAK


@njit(nogil=True, cache=True)
def upto(src, i, n, stop):
    """Return the place of the next byte `stop`, or the end."""
    while i < n and src[i] != stop:
        i += 1
    return i


@njit(nogil=True, cache=True)
def is_word(src, i, n, word):
    """Tell whether `word` stands at `i` in any case."""
    if i + len(word) > n:
        return False
    for k in range(len(word)):
        if _lower(src[i + k]) != _lower(word[k]):
            return False
    return True


@njit(nogil=True, cache=True)
def _ends_name(c):
    return _CLASS[c] > 0


@njit(nogil=True, cache=True)
def has_token(src, start, end, word):
    """Tell whether a space separated list holds `word` (lower case)."""
    i = start
    while i < end:
        while i < end and blank(src[i]):
            i += 1
        j = i
        while j < end and not blank(src[j]):
            j += 1
        if j - i == len(word) and is_word(src, i, j, word):
            return True
        i = j
    return False


@njit(nogil=True, cache=True)
def attributes(src, i, n, values):
    """Read the attributes of a tag from `i`; return the place behind its `>`, or -1 where the page ends within it.

    values[k] becomes the span of the value of the k-th wanted attribute, the first of a name; (-1, -1) where absent.
    With no room in `values` nothing is kept.
    """
    keep = len(values) > 0
    values[:] = -1
    while True:
        while i < n and (blank(src[i]) or src[i] == 47):
            i += 1
        if i >= n:
            return -1
        if src[i] == 62:
            return i + 1
        code, first = SEED, i
        while i < n and not _ends_name(src[i]) and (src[i] != 61 or i == first):
            if keep:
                code = (code ^ np.uint64(_lower(src[i]))) * PRIME
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


@njit(nogil=True, cache=True)
def _tag_at(src, i, n, name):
    """Tell whether a tag's `name` stands whole at `i`."""
    j = i + len(name)
    return j < n and _ends_name(src[j]) and is_word(src, i, n, name)


@njit(nogil=True, cache=True)
def raw_end(src, i, n, name):
    """Return where the end tag of the raw text element `name` starts, or the end of the page."""
    while i < n:
        if src[i] == 60 and i + 1 < n and src[i + 1] == 47 and _tag_at(src, i + 2, n, name):
            return i
        i += 1
    return n


@njit(nogil=True, cache=True)
def script_end(src, i, n):
    """Return where the end tag of a script starts; within `<!--`, a script may hold a script and its end tag."""
    escaped = nested = False
    while i < n:
        if src[i] == 60 and i + 1 < n:
            if src[i + 1] == 47 and _tag_at(src, i + 2, n, _SCRIPT):
                if not nested:
                    return i
                nested = False
            elif not escaped and is_word(src, i, n, _OPEN):
                escaped = True
                i += 1  # the dashes may also close: <!-->
            elif escaped and _tag_at(src, i + 1, n, _SCRIPT):
                nested = True
        elif escaped and src[i] == 45 and is_word(src, i, n, _CLOSE):
            escaped = nested = False
        i += 1
    return n


@njit(nogil=True, cache=True)
def comment_end(src, i, n):
    """Return the place behind the comment that opens at `i`."""
    j = i + 4
    if j < n and src[j] == 62:
        return j + 1
    if j + 1 < n and src[j] == 45 and src[j + 1] == 62:
        return j + 2
    while j + 2 < n:
        if src[j] == 45 and src[j + 1] == 45:
            if src[j + 2] == 62:
                return j + 3
            if src[j + 2] == 33 and j + 3 < n and src[j + 3] == 62:
                return j + 4
        j += 1
    return n


@njit(nogil=True, cache=True)
def tag_name(src, i, n):
    """Return the kind of the tag whose name starts at `i`, and the place behind the name."""
    code = SEED
    while i < n and not _ends_name(src[i]):
        code = (code ^ np.uint64(_lower(src[i]))) * PRIME
        i += 1
    return _kind(code), i
