"""Compiled decoder of HTML character references."""

from html.entities import html5

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled
from evercrawl.parse._bytes_kernel import Bytes

_SIZE = 1 << 13
SEED = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
_LONGEST_BARE = max(len(name) for name in html5 if not name.endswith(";"))
_C1 = np.array([ord(bytes([b]).decode("cp1252", "ignore") or chr(b)) for b in range(0x80, 0xA0)], np.uint32)


def named(name: str) -> int:
    """Return the FNV-1a hash of `name`, which identifies names here."""
    code = int(SEED)
    for byte in name.encode():
        code = ((code ^ byte) * int(PRIME)) & 0xFFFFFFFFFFFFFFFF
    return code


def _table() -> tuple[NDArray[np.uint64], NDArray[np.int32], Bytes]:
    """Return an open-addressing table of name hash -> span of the blob of UTF-8 values."""
    hashes, spans, blob = np.zeros(_SIZE, np.uint64), np.zeros((_SIZE, 2), np.int32), bytearray()
    for name, value in html5.items():
        code = named(name)
        at = code % _SIZE
        while hashes[at]:
            at = (at + 1) % _SIZE
        hashes[at] = code
        spans[at] = len(blob), len(blob) + len(value.encode())
        blob += value.encode()
    return hashes, spans, np.frombuffer(bytes(blob), np.uint8)


_HASHES, _SPANS, _BLOB = _table()


@compiled
def _find(code: np.uint64) -> np.int64:
    at = np.int64(code % np.uint64(_SIZE))
    while _HASHES[at] != 0:
        if _HASHES[at] == code:
            return at
        at = (at + 1) % _SIZE
    return np.int64(-1)


@compiled
def put_code(out: Bytes, o: int, code: np.int64) -> int:
    """Write one code point as UTF-8 at `o`; return the next write position."""
    if code < 0x80:
        out[o] = code
        return o + 1
    if code < 0x800:
        out[o] = 0xC0 | code >> 6
        out[o + 1] = 0x80 | code & 0x3F
        return o + 2
    if code < 0x10000:
        out[o] = 0xE0 | code >> 12
        out[o + 1] = 0x80 | code >> 6 & 0x3F
        out[o + 2] = 0x80 | code & 0x3F
        return o + 3
    out[o] = 0xF0 | code >> 18
    out[o + 1] = 0x80 | code >> 12 & 0x3F
    out[o + 2] = 0x80 | code >> 6 & 0x3F
    out[o + 3] = 0x80 | code & 0x3F
    return o + 4


@compiled
def _alnum(c: int) -> bool:
    return 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122


@compiled
def _numeric(src: Bytes, i: int, end: int, out: Bytes, o: int) -> tuple[int, int]:
    """Decode the `&#` at `i`."""
    j = i + 2
    base = 10
    if j < end and (src[j] | 32) == 120:
        base, j = 16, j + 1
    start, code = j, np.int64(0)
    while j < end:
        c = np.int64(src[j])
        if 48 <= c <= 57:
            digit = c - 48
        elif base == 16 and 97 <= (c | 32) <= 102:
            digit = (c | 32) - 87
        else:
            break
        code = min(code * base + digit, np.int64(0x110000))
        j += 1
    if j == start:
        out[o] = 38
        return i + 1, o + 1
    if j < end and src[j] == 59:
        j += 1
    if 0x80 <= code < 0xA0:
        code = np.int64(_C1[code - 0x80])
    elif code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        code = np.int64(0xFFFD)
    return j, put_code(out, o, code)


@compiled
def reference(src: Bytes, i: int, end: int, out: Bytes, o: int, in_attribute: bool) -> tuple[int, int]:
    """Decode a possible character reference at the `&` at `i`; return the next read and write positions.

    Anything else stays an ampersand. In attributes, a name without semicolon that continues is left alone, as in
    `?a=1&copy=2`.
    """
    if i + 1 < end and src[i + 1] == 35:
        return _numeric(src, i, end, out, o)
    code, j, found, after = SEED, i + 1, np.int64(-1), i + 1
    while j < end and j - i <= 32 and _alnum(src[j]):
        code = (code ^ np.uint64(src[j])) * PRIME
        j += 1
        if j - i - 1 <= _LONGEST_BARE:
            at = _find(code)
            if at >= 0:
                found, after = at, j
    if j < end and src[j] == 59:
        at = _find((code ^ np.uint64(59)) * PRIME)
        if at >= 0:
            found, after = at, j + 1
    bare = found >= 0 and src[after - 1] != 59
    if found < 0 or (bare and in_attribute and after < end and (src[after] == 61 or _alnum(src[after]))):
        out[o] = 38
        return i + 1, o + 1
    for k in range(int(_SPANS[found, 0]), int(_SPANS[found, 1])):
        out[o] = _BLOB[k]
        o += 1
    return after, o
