"""Compiled filter of link texts: whether words carry meaning, and whether the pair of page and words is recent."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.addresses import ints32_at, ints_at, pointer_at
from evercrawl.kernels.build import compiled, entry, i64, pointer, view
from evercrawl.types import NO_SLOT, Keys, Slots, Spans

_SEED, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_TOLD = 0x20000  # all characters above count as letters
_LETTERS = np.packbits([chr(c).isalpha() for c in range(_TOLD)], bitorder="little")
_WORDS = 0x2E80  # from here on, a character may be a word of its own
_URLS = [np.frombuffer(start, np.uint8) for start in (b"http://", b"https://", b"www.")]
_HTTP, _HTTPS, _WWW = _URLS


@compiled
def _character(text: NDArray[np.uint8], i: int, end: int) -> tuple[int, int]:
    """Return the code point that starts at `i`, and the position after it; any bytes are accepted."""
    code = int(text[i])
    size = 1 + (code >= 0xC0) + (code >= 0xE0) + (code >= 0xF0)
    if size > 1:
        code &= 0xFF >> (size + 1)
    i += 1
    while size > 1 and i < end and text[i] & 0xC0 == 0x80:
        code = code << 6 | int(text[i] & 0x3F)
        i += 1
        size -= 1
    return code, i


@compiled
def _is_letter(code: int) -> bool:
    return bool(code >= _TOLD or _LETTERS[code >> 3] >> (code & 7) & 1)


@compiled
def _starts(text: NDArray[np.uint8], i: int, end: int, word: NDArray[np.uint8]) -> bool:
    if end - i < len(word):
        return False
    k = 0
    while k < len(word) and _lower(text[i + k]) == word[k]:
        k += 1
    return k == len(word)


@compiled
def _lower(c: np.uint8) -> np.uint8:
    return np.uint8(c + 32) if 65 <= c <= 90 else c


@compiled
def _is_url(text: NDArray[np.uint8], i: int, end: int) -> bool:
    """Return whether the words are just a URL."""
    if not (_starts(text, i, end, _HTTP) or _starts(text, i, end, _HTTPS) or _starts(text, i, end, _WWW)):
        return False
    while i < end and text[i] != 32:
        i += 1
    return i == end


@compiled
def _says(text: NDArray[np.uint8], i: int, end: int) -> bool:
    """Return whether words carry meaning: two characters including a letter, or an ideograph; and no URL."""
    first, characters, letter = i, 0, False
    while i < end:
        code, i = _character(text, i, end)
        characters += 1
        if _is_letter(code):
            letter = True
            characters += code >= _WORDS
        if letter and characters > 1:
            return not _is_url(text, first, end)
    return False


@compiled
def _pair(slot: np.uint64, text: NDArray[np.uint8], i: int, end: int) -> np.uint64:
    """Return a non-zero hash of a page and words, ignoring ASCII case."""
    code = _SEED
    while i < end:
        code = (code ^ np.uint64(_lower(text[i]))) * _PRIME
        i += 1
    code = (code ^ slot) * _FIRST
    code = (code ^ code >> np.uint64(29)) * _SECOND
    return (code ^ code >> np.uint64(32)) | np.uint64(1)


_I32, _U64, _U8, _U32 = (pointer(kind) for kind in (np.int32, np.uint64, np.uint8, np.uint32))
_keys_at, _slots_at, _bytes_at = pointer_at(np.uint64), pointer_at(np.uint32), pointer_at(np.uint8)


@entry(i64, _I32, i64, _U32, i64, _U8, i64, _U64, i64, pointer(np.int64), i64)
def new(
    spans: Any, n: int, slots: Any, n_slots: int, text: Any, n_text: int, said: Any, places: int, memory: Any, room: int
) -> int:
    """Write which of the spans are new pairs, and add them to `said`; see `evercrawl.search.anchors`.

    At the addresses `memory` are n numbers of scratch; the mask of new spans; and for each new pair its slot, and its
    words with ASCII in lower case, followed by a newline. A last number receives the bytes these take, -1 if the
    buffer is too small.

    Return the number of new pairs, -1 if a span is out of bounds.
    """
    at = view(memory, 5)
    rows, targets, source = view(spans, (n, 3)), view(slots, n_slots), view(text, n_text)
    names, found = view(_keys_at(at[0]), n), view(ints32_at(at[1]), n)
    to, words = view(_slots_at(at[2]), n), view(_bytes_at(at[3]), room)
    if not _name(rows, targets, source, names):
        return -1
    count = _keep(names, view(said, places), found)
    view(ints_at(at[4]), 1)[0] = _write(rows, targets, source, found[:count], to, words)
    return count


@compiled
def _write(
    spans: Spans, slots: Slots, text: NDArray[np.uint8], fresh: NDArray[np.int32], to: Slots, words: NDArray[np.uint8]
) -> int:
    """Write slots and words of the `fresh` spans; return the bytes of the words, -1 if too many."""
    at = 0
    for k in range(len(fresh)):
        start, end, target = spans[fresh[k], 0], spans[fresh[k], 1], spans[fresh[k], 2]
        to[k] = slots[target]
        if at < 0 or at + end - start >= len(words):
            at = -1
            continue
        for i in range(start, end):
            words[at + i - start] = _lower(text[i])
        at += end - start + 1
        words[at - 1] = 10
    return at


@compiled
def _name(spans: Spans, slots: Slots, text: NDArray[np.uint8], pairs: Keys) -> bool:
    """Write the hashes of pairs, 0 for those to leave out; return whether all spans are within bounds."""
    for row in range(len(spans)):
        start, end, target = spans[row, 0], spans[row, 1], spans[row, 2]
        if start < 0 or end > len(text) or target < 0 or target >= len(slots):
            return False
        tells = slots[target] != NO_SLOT and _says(text, start, end)
        pairs[row] = _pair(np.uint64(slots[target]), text, start, end) if tells else np.uint64(0)
    return True


@compiled
def _keep(pairs: Keys, said: Keys, fresh: NDArray[np.int32]) -> int:
    """Add to `said` the pairs not in it, and write their positions in `pairs`; return their number.

    Nearly every access to the table is a cache miss; in a loop of their own, many misses overlap.
    """
    count, mask = 0, np.uint64(len(said) - 1)
    for row in range(len(pairs)):
        place = pairs[row] >> np.uint64(1) & mask
        if said[place] != pairs[row] and pairs[row] != 0:
            said[place] = pairs[row]
            fresh[count] = row
            count += 1
    return count
