"""Compiled text extraction: white space folded, character references decoded."""

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.kernels.eight import EACH, HIGH, below, eight, equal, first
from evercrawl.parse._bytes_kernel import Bytes
from evercrawl.parse._entities_kernel import reference

_SPACE, _OPEN, _MAYBE = 1, 2, 3
_TAG, _REFERENCE, _BLANK = (np.uint64(c) * EACH for c in b"<& ")
_LAST = np.uint64(0x80 << 56)
_SPECIAL = np.zeros(256, np.uint8)
_SPECIAL[:33], _SPECIAL[60], _SPECIAL[[38, 0xC2, 0xE2, 0xE3]] = _SPACE, _OPEN, _MAYBE


@compiled
def _space_bytes(src: Bytes, i: int, n: int) -> int:
    """Return the number of bytes of white space at `i`: 0, 1, or the length of a Unicode space."""
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


@compiled
def _put_plain(src: Bytes, i: int, n: int, out: Bytes, o: int) -> tuple[int, int]:
    """Append ASCII words with single spaces between them, as long as eight bytes can be examined at once.

    Bytes written beyond that are overwritten later, and the buffer has room for them.
    """
    while i + 8 <= n:
        text = eight(src, i)
        for k in range(8):
            out[o + k] = text >> np.uint64(8 * k) & np.uint64(0xFF)
        ends = below(text, 33) | equal(text, _TAG) | equal(text, _REFERENCE) | (text & HIGH)
        ends &= ~(equal(text, _BLANK) & ~(ends >> np.uint64(8) | _LAST))  # for a space, the next byte decides
        hop = first(ends)
        i += hop
        o += hop
        if hop < 7:
            break
    return i, o


@compiled
def put_text(src: Bytes, i: int, n: int, markup_ends: bool, out: Bytes, o: int, gap: bool) -> tuple[int, int, bool]:
    """Append text up to the next `<` or the end, white space folded; `gap` says that a space is due first."""
    while i < n:
        c = src[i]
        special = _SPECIAL[c]
        if special == 0 or (special == _OPEN and not markup_ends):
            if gap and o:
                out[o] = 32
                o += 1
            gap = False
            out[o] = c
            i, o = _put_plain(src, i + 1, n, out, o + 1)
            # words with single spaces between them, in one loop without a mispredicted branch at each word's end
            while i < n - 1 and (_SPECIAL[src[i]] == 0) | ((src[i] == 32) & (_SPECIAL[src[i + 1]] == 0)):
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


@compiled
def _put_special(src: Bytes, i: int, n: int, out: Bytes, o: int, gap: bool) -> tuple[int, int, bool]:
    """Append the item at `i`: a character reference, or a byte that may start a Unicode space."""
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
