"""One pass over the bytes of a page: its visible text, its links, and what its head says.

No tree is built: nothing is kept but counters, so time and memory are linear in the page whatever is nested in what.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from evercrawl.parse import _markup_kernel as markup
from evercrawl.parse._entities_kernel import reference
from evercrawl.parse._markup_kernel import attributes, comment_end, has_token, is_word, tag_name, upto

MAX_URL_BYTES = 8192
MAX_FACTS = 100
TITLE, LANG, BASE, CANONICAL, ROBOTS, REFRESH = b"TLBCMR"


def _word(word: bytes) -> np.ndarray:
    return np.frombuffer(word, np.uint8)


_SPACE, _OPEN, _MAYBE = 1, 2, 3
_SPECIAL = np.zeros(256, np.uint8)
_SPECIAL[:33], _SPECIAL[60], _SPECIAL[[38, 0xC2, 0xE2, 0xE3]] = _SPACE, _OPEN, _MAYBE

_NOFOLLOW, _CANONICAL, _REFRESH = _word(b"nofollow"), _word(b"canonical"), _word(b"refresh")
_ROBOTS, _PRODUCT, _CDATA = _word(b"robots"), _word(b"evercrawl"), _word(b"<![cdata[")


@njit(nogil=True, cache=True)
def _space_bytes(src, i, n):
    """Return how many bytes of white space start at `i`: 0, 1, or the length of a Unicode space."""
    c = src[i]
    if c <= 32:
        return 1
    if c == 0xC2 and i + 1 < n and (src[i + 1] == 0xA0 or src[i + 1] == 0x85):
        return 2
    if i + 2 < n and (c == 0xE2 or c == 0xE3):
        d, e = src[i + 1], src[i + 2]
        if c == 0xE3 and d == 0x80 and e == 0x80:
            return 3
        if c == 0xE2 and d == 0x80 and (e <= 0x8A or e == 0xA8 or e == 0xA9 or e == 0xAF):
            return 3
        if c == 0xE2 and d == 0x81 and e == 0x9F:
            return 3
    return 0


@njit(nogil=True, cache=True)
def put_text(src, i, n, markup_ends, out, o, gap):
    """Append text, up to the next `<` or the end, white space folded; `gap` tells that a space is due first."""
    while i < n:
        c = src[i]
        special = _SPECIAL[c]
        if special == 0 or (special == _OPEN and not markup_ends):
            if gap and o:
                out[o] = 32
                o += 1
            gap = False
            out[o] = c
            o += 1
            i += 1
            while i < n and _SPECIAL[src[i]] == 0:
                out[o] = src[i]
                o += 1
                i += 1
        elif special == _SPACE:
            gap = gap or c != 0
            i += 1
        elif special == _OPEN:
            break
        else:
            i, o, gap = _put_special(src, i, n, out, o, gap)
    return i, o, gap


@njit(nogil=True, cache=True)
def _put_special(src, i, n, out, o, gap):
    """Append what starts at `i`: a character reference, or a byte that may start a Unicode space."""
    width = 0 if src[i] == 38 else _space_bytes(src, i, n)
    if width:
        return i + width, o, True
    was, due = o, gap and o > 0
    if due:
        out[o] = 32
        o += 1
    start = o
    if src[i] == 38:
        i, o = reference(src, i, n, out, o, False)
        if _space_bytes(out, start, o):
            return i, was, True
        return i, o, False
    out[o] = src[i]
    return i + 1, o + 1, False


@njit(nogil=True, cache=True)
def put_value(src, span, out, o):
    """Append an attribute's value with its references decoded; NUL becomes U+FFFD."""
    i, end = span
    while i < end:
        if src[i] == 38:
            i, o = reference(src, i, end, out, o, True)
            continue
        if src[i] == 0:
            out[o], out[o + 1], out[o + 2] = 0xEF, 0xBF, 0xBD
            o += 3
        else:
            out[o] = src[i]
            o += 1
        i += 1
    return o


@njit(nogil=True, cache=True)
def put_link(src, span, out, o):
    """Append a link, ended by a newline, without the fragment and the bytes that URL parsers drop."""
    end = put_value(src, span, out, o)
    start = o
    while start < end and out[start] <= 32:
        start += 1
    while end > start and out[end - 1] <= 32:
        end -= 1
    for i in range(start, end):
        c = out[i]
        if c == 35 and (i == start or out[i - 1] > 32):
            break
        if c != 9 and c != 10 and c != 13:
            out[o] = c
            o += 1
    out[o] = 10
    return o + 1


@njit(nogil=True, cache=True)
def put_fact(kind, src, span, out, o):
    """Append what the head says: a letter, a value, and a NUL."""
    out[o] = kind
    o = put_value(src, span, out, o + 1)
    out[o] = 0
    return o + 1


@njit(nogil=True, cache=True)
def _head_fact(kind, src, values, out, o):
    """Append what a base, link, meta or html element says."""
    if kind == markup.BASE and values[markup.HREF, 0] >= 0:
        return put_fact(BASE, src, values[markup.HREF], out, o)
    if kind == markup.HTML and values[markup.LANG, 0] >= 0:
        return put_fact(LANG, src, values[markup.LANG], out, o)
    if kind == markup.LINK and values[markup.HREF, 0] >= 0:
        if has_token(src, values[markup.REL, 0], values[markup.REL, 1], _CANONICAL):
            return put_fact(CANONICAL, src, values[markup.HREF], out, o)
    if kind == markup.META and values[markup.CONTENT, 0] >= 0:
        start, end = values[markup.NAME]
        if has_token(src, start, end, _ROBOTS) or has_token(src, start, end, _PRODUCT):
            return put_fact(ROBOTS, src, values[markup.CONTENT], out, o)
        if has_token(src, values[markup.EQUIV, 0], values[markup.EQUIV, 1], _REFRESH):
            return put_fact(REFRESH, src, values[markup.CONTENT], out, o)
    return o


@njit(nogil=True, cache=True)
def _link_span(kind, src, values):
    """Return the span of the URL that an element links to and lets be followed, (-1, -1) without one."""
    column = markup.SRC if kind == markup.FRAME else markup.HREF
    if has_token(src, values[markup.REL, 0], values[markup.REL, 1], _NOFOLLOW):
        return np.int64(-1), np.int64(-1)
    return values[column, 0], values[column, 1]


@njit(nogil=True, cache=True)
def _declaration_end(src, i, n, foreign):
    """Return the place behind the `<!`, `<?` or odd `</` at `i`."""
    if i + 3 < n and src[i + 1] == 33 and src[i + 2] == 45 and src[i + 3] == 45:
        return comment_end(src, i, n)
    if foreign and is_word(src, i, n, _CDATA):
        return i + len(_CDATA)  # its text is text
    return min(upto(src, i, n, 62) + 1, n)


@njit(nogil=True, cache=True)
def scan(src, max_links):
    """Return text, links (each ended by a newline) and facts (each a letter, a value and a NUL) of a page in UTF-8."""
    n = len(src)
    text = np.empty(n + n // 4 + 64, np.uint8)
    links = np.empty(3 * n + 64, np.uint8)
    facts = np.empty(3 * n + 64, np.uint8)
    values = np.empty((markup.VALUES, 2), np.int64)
    unwanted = np.empty((0, 2), np.int64)
    at_text = at_links = at_facts = n_links = n_facts = i = 0
    gap = titled = False
    template = noscript = foreign = 0
    while i < n:
        if src[i] != 60:
            if template or noscript:
                i = upto(src, i, n, 60)
            else:
                i, at_text, gap = put_text(src, i, n, True, text, at_text, gap)
            continue
        c = src[i + 1] if i + 1 < n else 0
        closing = c == 47
        d = (src[i + 2] if i + 2 < n else 0) if closing else c
        if not 97 <= (d | 32) <= 122:
            if c == 33 or c == 63 or (closing and i + 2 < n):
                i = _declaration_end(src, i, n, foreign)
            else:
                if not (template or noscript):
                    _, at_text, gap = put_text(src, i, i + 1, False, text, at_text, gap)
                i += 1
            continue
        start = i + 1 + closing
        kind, i = tag_name(src, start, n)
        name_end = i
        wanted = kind >= markup.ANCHOR and not closing and not template
        i = attributes(src, i, n, values if wanted else unwanted)
        if i < 0:
            break
        if kind == markup.BREAK or markup.TITLE <= kind <= markup.TEXTAREA or kind >= markup.AREA:
            gap = True
        if closing:
            if kind == markup.TEMPLATE:
                template = max(template - 1, 0)
            elif kind == markup.NOSCRIPT:
                noscript = 0
            elif kind == markup.FOREIGN:
                foreign = max(foreign - 1, 0)
            continue
        if wanted:
            if kind <= markup.FRAME:
                first, last = _link_span(kind, src, values)
                if first >= 0 and last - first <= MAX_URL_BYTES and n_links < max_links:
                    at_links = put_link(src, (first, last), links, at_links)
                    n_links += 1
            elif n_facts < MAX_FACTS:
                was = at_facts
                at_facts = _head_fact(kind, src, values, facts, at_facts)
                n_facts += at_facts > was
        alone = foreign > 0 and src[i - 2] == 47
        if alone:
            continue
        if kind == markup.TEMPLATE:
            template += 1
        elif kind == markup.NOSCRIPT:
            noscript = 1
        elif kind == markup.FOREIGN:
            foreign += src[i - 2] != 47
        elif kind == markup.SCRIPT:
            i = markup.script_end(src, i, n)
        elif kind == markup.RAW or (kind == markup.FRAME and src[start] | 32 == 105):
            i = markup.raw_end(src, i, n, src[start:name_end])
        elif kind == markup.TITLE and not foreign:
            end = markup.raw_end(src, i, n, src[start:name_end])
            if not titled and not template:
                at_facts = put_fact(TITLE, src, (i, end), facts, at_facts)
                titled = True
            i = end
        elif kind == markup.TEXTAREA and not foreign:
            end = markup.raw_end(src, i, n, src[start:name_end])
            if not (template or noscript):
                _, at_text, gap = put_text(src, i, end, False, text, at_text, gap)
            i = end
        elif kind == markup.PLAIN:
            _, at_text, gap = put_text(src, i, n, False, text, at_text, gap)
            break
    return text[:at_text], links[:at_links], facts[:at_facts]
