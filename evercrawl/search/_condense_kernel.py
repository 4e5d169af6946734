"""The words of a long text that did not come up before, in compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evercrawl.kernels.build import compiled, entry, i64, pointer, view
from evercrawl.kernels.eight import HIGH, digits, first, letters, upto_eight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.types import Keys

_MIX = np.uint64(0x9E3779B97F4A7C15)
_LONGEST = 40  # bytes of a word that is indexed
_LETTERS = np.zeros(256, np.uint8)  # of bytes: themselves, capitals in lower case, 0 between words
for _c in (*range(48, 58), *range(97, 123), *range(128, 256)):
    _LETTERS[_c] = _c
_LETTERS[65:91] = _LETTERS[97:123]
_U8, _U64 = pointer(np.uint8), pointer(np.uint64)


@entry(i64, _U8, i64, i64, i64, _U64, i64, _U8, i64)
def condense(text: Any, n: int, head: int, times: int, table: Any, places: int, out: Any, room: int) -> int:
    """Write the words of `text` behind `head` that have come up less than `times` before; see `condense`.

    Return how many bytes that makes. `table` is scratch, of so many places that are a power of two. What comes after
    three quarters of them are taken, or after all the room is, is left out.
    """
    return _condense(view(text, n), head, times, view(table, places), view(out, room))


@compiled
def _condense(text: NDArray[np.uint8], head: int, times: int, table: Keys, out: NDArray[np.uint8]) -> int:
    table[:] = 0
    count, room, i, n = 0, len(table) // 4 * 3, 0, len(text)
    while i < n and room > 0 and count + _LONGEST < len(out):
        start = i
        code, i = _word(text, i, n)
        if start < i <= start + _LONGEST:
            before = _put(table, code * _MIX, times)
            room -= before == 0
            if before < times and start >= head:
                count = _write(text, start, i, out, count)
        if i < n:
            i += max(_sign(text, i), 1)
    return count


@compiled
def _word(text: NDArray[np.uint8], i: int, n: int) -> tuple[np.uint64, int]:
    """Return a number for the word at `i`, whose ASCII letters may be of either case, and where it ends."""
    code = np.uint64(0)
    while i < n:
        some = upto_eight(text, i)
        capitals = letters(some)
        size = first(~(capitals | digits(some)) & HIGH)
        if size == 0:
            break
        whole = (some | capitals >> np.uint64(2)) & np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * size)
        code = (code ^ whole) * _MIX
        code ^= code >> np.uint64(32)
        i += size
        if size < 8 and i < n and text[i] < 128:
            return code, i
    while i < n:
        letter = _LETTERS[text[i]]
        if letter == 0 or (letter >= 0xC2 and _sign(text, i) != 0):
            break
        code = (code << np.uint64(5)) - code + np.uint64(letter)
        i += 1
    return code, i


@compiled
def _sign(text: NDArray[np.uint8], i: int) -> int:
    """Return how many bytes the sign takes that stands at `i`; 0 where it is a letter, or ASCII.

    Signs are those of Latin-1 but for its three letters, and what Unicode has from U+2000 to U+2BFF and from U+3000 to
    U+303F: dashes, quotation marks, arrows, boxes.
    """
    c = text[i]
    if c == 0xC2 and i + 1 < len(text):
        d = text[i + 1]
        return 0 if d in (0xAA, 0xB5, 0xBA) else 2
    if c == 0xE2 and i + 1 < len(text):
        return 3 if text[i + 1] < 0xB0 else 0
    if c == 0xE3 and i + 1 < len(text):
        return 3 if text[i + 1] == 0x80 else 0
    return 0


@compiled
def _put(table: Keys, code: np.uint64, times: int) -> int:
    """Count one more of a word, up to `times`; return how often it had come up before."""
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
    """Write a space and a word, and return where that ends."""
    out[at] = 32
    at += 1
    for i in range(start, end):
        out[at] = text[i]
        at += 1
    return at
