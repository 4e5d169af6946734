"""Compiled condensing of text: without punctuation, and for a long text only the words not seen before."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled, entry, i64, pointer, view
from evercrawl.kernels.eight import HIGH, digits, eight, first, letters, upto_eight
from evercrawl.types import Keys

_MIX = np.uint64(0x9E3779B97F4A7C15)
_LONGEST = 40  # maximum bytes of an indexed word
_LETTERS = np.zeros(256, np.uint8)  # byte table: itself, capitals in lower case, 0 for separators
for _c in (*range(48, 58), *range(97, 123), *range(128, 256)):
    _LETTERS[_c] = _c
_LETTERS[65:91] = _LETTERS[97:123]
_U8, _U64 = pointer(np.uint8), pointer(np.uint64)


@entry(i64, _U8, i64, i64, i64, _U64, i64, _U8, i64)
def condense(text: Any, n: int, head: int, times: int, table: Any, places: int, out: Any, room: int) -> int:
    """Write `text` up to `head`, and of the rest the words that have occurred fewer than `times` before.

    Return the number of bytes written. `table` is scratch, with a power of two of places. Words are dropped once
    three quarters of them, or all of the output buffer, are in use; the buffer must hold at least the beginning.
    """
    whole, written = view(text, n), view(out, room)
    count = _plain(whole[:head], written)
    return _condense(whole, head, times, view(table, places), written, count) if head < n else count


@compiled
def _plain(text: NDArray[np.uint8], out: NDArray[np.uint8]) -> int:
    """Write a text with a blank for each non-ASCII sign; return the number of bytes written."""
    i, o, n = 0, 0, len(text)
    while i < n:
        while i + 8 <= n and o + 8 <= len(out):
            some = eight(text, i)
            at = np.uint64(o)
            for k in range(8):
                out[at + np.uint64(k)] = some >> np.uint64(8 * k) & np.uint64(0xFF)
            if some & HIGH != 0:  # a predictable branch, or each eight bytes would wait for the previous ones
                hop = first(some & HIGH)
                i += hop
                o += hop
                break
            i += 8
            o += 8
        while i < n and text[i] < 128:  # fewer than eight, at the end
            out[o] = text[i]
            i += 1
            o += 1
        while i < n and text[i] >= 128:
            width = _sign(text, i)
            out[o] = 32 if width else text[i]
            i += max(width, 1)
            o += 1
    return o


@compiled
def _condense(text: NDArray[np.uint8], head: int, times: int, table: Keys, out: NDArray[np.uint8], count: int) -> int:
    table[:] = 0
    room, n = len(table) // 4 * 3, len(text)
    i = _gap(text, 0, n)
    while i < n and room > 0 and count + _LONGEST < len(out):
        start = i
        code, end, i = _word(text, i, n)
        if end <= start + _LONGEST:
            before = _put(table, code * _MIX, times)
            room -= before == 0
            if before < times and start >= head:
                count = _write(text, start, end, out, count)
    return count


@compiled
def _gap(text: NDArray[np.uint8], i: int, n: int) -> int:
    """Return the start of the next word."""
    while i < n:
        some = upto_eight(text, i)
        hop = first(letters(some) | digits(some) | some & HIGH)
        i += hop
        if hop < 8:
            width = _sign(text, i)
            if width == 0:
                return i
            i += width
    return n


@compiled
def _word(text: NDArray[np.uint8], i: int, n: int) -> tuple[np.uint64, int, int]:
    """Return a number for the word at `i`, ignoring ASCII case, its end, and the start of the next word.

    Nearly always eight bytes suffice for that.
    """
    code = np.uint64(0)
    while i < n:
        some = upto_eight(text, i)
        capitals = letters(some)
        words = capitals | digits(some)
        size = first(~words & HIGH)
        if size == 0:
            break
        whole = (some | capitals >> np.uint64(2)) & np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * size)
        code = (code ^ whole) * _MIX
        code ^= code >> np.uint64(32)
        if size < 8 and i + size < n and text[i + size] < 128:
            behind = np.uint64(8 * size)
            after = i + first((words | some & HIGH) >> behind << behind)
            return code, i + size, _gap(text, after, n) if after == i + 8 or text[after] >= 128 else after
        i += size
    while i < n:
        letter = _LETTERS[text[i]]
        if letter == 0 or (letter >= 0xC2 and _sign(text, i) != 0):
            break
        code = (code << np.uint64(5)) - code + np.uint64(letter)
        i += 1
    return code, i, _gap(text, i, n)


@compiled
def _sign(text: NDArray[np.uint8], i: int) -> int:
    """Return the byte length of the sign at `i`; 0 for a letter, a number, or ASCII.

    Signs are those of Latin-1, and nearly all of what Unicode has from U+2000 to U+2BFF and from U+3000 to U+303F:
    dashes, quotation marks, arrows, boxes. A sign mistaken for a letter does no harm.
    """
    c = text[i]
    if c == 0xC2 and i + 1 < len(text):
        d = text[i + 1]
        return 0 if d in (0xAA, 0xB2, 0xB3, 0xB5, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE) else 2
    if c == 0xE2 and i + 2 < len(text):
        return 0 if _is_word(text[i + 1], text[i + 2]) else 3
    if c == 0xE3 and i + 2 < len(text):
        e = text[i + 2]
        return 3 if text[i + 1] == 0x80 and (e < 0x85 or 0x88 <= e <= 0xA0 or e == 0xB0) else 0
    return 0


@compiled
def _is_word(d: np.uint8, e: np.uint8) -> bool:
    """Return whether E2, d, e may belong to a word: powers, letter-like symbols, fractions, circled numbers."""
    if d == 0x81:
        return bool(e >= 0xB0)
    if d == 0x82:
        return bool(e < 0xA0)
    if d == 0x86:
        return bool(e < 0x90)
    if d == 0x9D:
        return bool(e >= 0xB6)
    if d == 0x9E:
        return bool(e < 0x94)
    return bool(d == 0x84 or d == 0x85 or 0x91 <= d <= 0x93 or d >= 0xB0)


@compiled
def _put(table: Keys, code: np.uint64, times: int) -> int:
    """Count one more occurrence of a word, up to `times`; return the count before."""
    mask, small = np.uint64(len(table) - 1), np.uint64(15)
    name = (code | np.uint64(16)) & ~small
    place = code >> np.uint64(40) & mask
    while table[place] != 0 and table[place] & ~small != name:
        place = (place + np.uint64(1)) & mask
    before = int(table[place] & small)
    if before < times:
        table[place] = name | np.uint64(before + 1)
    return before


@compiled
def _write(text: NDArray[np.uint8], start: int, end: int, out: NDArray[np.uint8], at: int) -> int:
    """Write a space and a word, and return the end."""
    out[at] = 32
    at += 1
    for i in range(start, end):
        out[at] = text[i]
        at += 1
    return at
