"""Links as written, distinct, with the span of each link's text."""

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled
from evercrawl.parse._bytes_kernel import Bytes
from evercrawl.parse._entities_kernel import PRIME, SEED, reference
from evercrawl.types import Spans

PROBES = 8
"""Rows in which a link is looked for: a bound, whoever chooses the links."""

MAX_BYTES = 200
"""Where a link holds more, as one that nobody closed does, its first words are taken: they are what is most to it."""


@compiled
def put_value(src: Bytes, i: int, end: int, out: Bytes, o: int, in_attribute: bool) -> int:
    """Append a value with its references decoded; NUL becomes U+FFFD."""
    while i < end:
        if src[i] == 38:
            i, o = reference(src, i, end, out, o, in_attribute)
            continue
        if src[i] == 0:
            out[o], out[o + 1], out[o + 2] = 0xEF, 0xBF, 0xBD
            o += 3
        else:
            out[o] = src[i]
            o += 1
        i += 1
    return o


@compiled
def put_link(src: Bytes, i: int, end: int, out: Bytes, o: int, stop: int) -> int:
    """Append a link, terminated by `stop`, without its fragment and without the bytes that URL parsers drop."""
    last = put_value(src, i, end, out, o, True)
    i = o
    while i < last and out[i] <= 32:
        i += 1
    while last > i and out[last - 1] <= 32:
        last -= 1
    first = i
    while i < last and (out[i] != 35 or (i > first and out[i - 1] <= 32)):
        c = out[i]
        if c != 9 and c != 10 and c != 13:
            out[o] = c
            o += 1
        i += 1
    out[o] = stop
    return o + 1


@compiled
def one_of(links: Bytes, start: int, end: int, count: int, most: int, lately: Spans) -> tuple[int, bool]:
    """Return the index of the last link in `links`, and whether it is new; `lately` is a hash table of recent ones.

    Pages repeat links, so this saves look-ups later. `lately` has a power of two of rows: start, end and number of a
    link, or zeros. If `PROBES` rows are taken, the first is given to the new link, so a repeated link may count as
    new; that does no harm. After `most` links, no more are remembered.
    """
    mask = np.uint64(len(lately) - 1)
    first = _hashed(links, start, end)
    for probe in range(PROBES):
        row = lately[(first + np.uint64(probe)) & mask]
        if row[1] == 0:
            first += np.uint64(probe)
            break
        if row[1] - row[0] == end - start:
            k = 0
            while k < end - start and links[row[0] + k] == links[start + k]:
                k += 1
            if k == end - start:
                return int(row[2]), False
    if count < most:
        row = lately[first & mask]
        row[0], row[1], row[2] = start, end, count
    return count, True


@compiled
def _hashed(src: Bytes, i: int, end: int) -> np.uint64:
    """Return a hash of bytes, eight at a time."""
    code = SEED
    while i + 8 <= end:
        eight = np.uint64(0)
        for k in range(8):
            eight |= np.uint64(src[i + k]) << np.uint64(8 * k)
        code = (code ^ eight) * PRIME
        code ^= code >> np.uint64(32)
        i += 8
    while i < end:
        code = (code ^ np.uint64(src[i])) * PRIME
        i += 1
    return code ^ code >> np.uint64(29)


@compiled
def put_span(text: Bytes, begin: int, end: int, link: int, out: Spans, n: int) -> int:
    """Write the span of a link's text as the n-th row, if it has text; return the new number of rows."""
    while begin < end and (text[begin] == 32 or _continues(text[begin])):
        begin += 1
    end = _whole(text, begin, end) if end - begin <= MAX_BYTES else _cut(text, begin)
    while begin < end and text[end - 1] == 32:
        end -= 1
    if begin < end:
        out[n, 0], out[n, 1], out[n, 2] = begin, end, link
        n += 1
    return n


@compiled
def _continues(byte: int) -> bool:
    """Return whether a byte is a UTF-8 continuation byte."""
    return byte & 0xC0 == 0x80


@compiled
def _cut(text: Bytes, begin: int) -> int:
    """Return the end of the last word within `MAX_BYTES`; of the last character, if no word ends there."""
    end = begin + MAX_BYTES
    while end > begin and text[end] != 32:
        end -= 1
    if end == begin:
        end = begin + MAX_BYTES
        while end > begin and _continues(text[end]):
            end -= 1
    return end


@compiled
def _whole(text: Bytes, begin: int, end: int) -> int:
    """Return `end`, or the start of the last character if a tag splits it, as in broken UTF-8."""
    last = end - 1
    while last > begin and last > end - 4 and _continues(text[last]):
        last -= 1
    if last < begin:
        return end
    c = text[last]
    size = 1 + (c >= 0xC0) + (c >= 0xE0) + (c >= 0xF0)
    return last if last + size > end else end


@compiled
def lead_to(words: Spans, targets: NDArray[np.int32], own: int) -> int:
    """Replace links by targets; see the entry `lead`."""
    n = 0
    for row in range(len(words)):
        target = targets[words[row, 2]]
        if target >= 0 and target != own:
            words[n, 0], words[n, 1], words[n, 2] = words[row, 0], words[row, 1], target
            n += 1
    return n
