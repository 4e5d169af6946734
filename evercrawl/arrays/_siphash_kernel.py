"""SipHash-1-3 in compiled code: a round for each word of eight bytes, three at the end; see `hasher`."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled, entry, i64, pointer, u64, view
from evercrawl.kernels.eight import eight

Bytes: TypeAlias = NDArray[np.uint8]
_BYTES, _LENGTHS, _CODES = pointer(np.uint8), pointer(np.int64), pointer(np.uint64)
_Four: TypeAlias = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


@compiled
def _left(word: np.uint64, bits: int) -> np.uint64:
    return word << np.uint64(bits) | word >> np.uint64(64 - bits)


@compiled
def _round(v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64) -> _Four:
    v0 += v1
    v2 += v3
    v1 = _left(v1, 13) ^ v0
    v3 = _left(v3, 16) ^ v2
    v0 = _left(v0, 32)
    v2 += v1
    v0 += v3
    v1 = _left(v1, 17) ^ v2
    v3 = _left(v3, 21) ^ v0
    return v0, v1, _left(v2, 32), v3


@compiled
def _absorbed(src: Bytes, start: int, n: int, low: np.uint64, high: np.uint64, wide: np.uint64) -> _Four:
    """Return the four words after `n` bytes from `start` on, and their number; `wide` is 0xEE for 128 bits, else 0."""
    v0, v1 = low ^ np.uint64(0x736F6D6570736575), high ^ np.uint64(0x646F72616E646F6D) ^ wide
    v2, v3 = low ^ np.uint64(0x6C7967656E657261), high ^ np.uint64(0x7465646279746573)
    end = start + n
    whole = end - (n & 7)
    for i in range(start, whole, 8):
        word = eight(src, i)
        v0, v1, v2, v3 = _round(v0, v1, v2, v3 ^ word)
        v0 ^= word
    last = np.uint64(n & 0xFF) << np.uint64(56)
    for i in range(whole, end):
        last |= np.uint64(src[i]) << np.uint64(8 * (i - whole))
    v0, v1, v2, v3 = _round(v0, v1, v2, v3 ^ last)
    return v0 ^ last, v1, v2, v3


@compiled
def _three(v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64) -> _Four:
    for _ in range(3):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return v0, v1, v2, v3


@compiled
def _code(src: Bytes, start: int, n: int, low: np.uint64, high: np.uint64) -> np.uint64:
    v0, v1, v2, v3 = _absorbed(src, start, n, low, high, np.uint64(0))
    v0, v1, v2, v3 = _three(v0, v1, v2 ^ np.uint64(0xFF), v3)
    return v0 ^ v1 ^ v2 ^ v3


@compiled
def seven(text: np.uint64, n: int, low: np.uint64, high: np.uint64) -> np.uint64:
    """Return 64 bits of `n` bytes, less than eight, that stand in one number, the first its lowest, zeros above."""
    v0, v1 = low ^ np.uint64(0x736F6D6570736575), high ^ np.uint64(0x646F72616E646F6D)
    v2, v3 = low ^ np.uint64(0x6C7967656E657261), high ^ np.uint64(0x7465646279746573)
    last = np.uint64(n) << np.uint64(56) | text
    v0, v1, v2, v3 = _round(v0, v1, v2, v3 ^ last)
    v0, v1, v2, v3 = _three(v0 ^ last, v1, v2 ^ np.uint64(0xFF), v3)
    return v0 ^ v1 ^ v2 ^ v3


@compiled
def mapped(src: Bytes, start: int, n: int, table: Bytes, low: np.uint64, high: np.uint64) -> np.uint64:
    """Return 64 bits of what `table` makes of `n` bytes from `start` on."""
    v0, v1 = low ^ np.uint64(0x736F6D6570736575), high ^ np.uint64(0x646F72616E646F6D)
    v2, v3 = low ^ np.uint64(0x6C7967656E657261), high ^ np.uint64(0x7465646279746573)
    word = np.uint64(0)
    for i in range(n):
        word |= np.uint64(table[src[start + i]]) << np.uint64(8 * (i & 7))
        if i & 7 == 7:
            v0, v1, v2, v3 = _round(v0, v1, v2, v3 ^ word)
            v0 ^= word
            word = np.uint64(0)
    last = np.uint64(n & 0xFF) << np.uint64(56) | word
    v0, v1, v2, v3 = _round(v0, v1, v2, v3 ^ last)
    v0, v1, v2, v3 = _three(v0 ^ last, v1, v2 ^ np.uint64(0xFF), v3)
    return v0 ^ v1 ^ v2 ^ v3


@entry(u64, _BYTES, i64, u64, u64)
def short(text: Any, n: int, low: np.uint64, high: np.uint64) -> np.uint64:
    """Return 64 bits of `n` bytes under a secret of two words."""
    return _code(view(text, n), 0, n, low, high)


@entry(i64, _BYTES, _LENGTHS, i64, u64, u64, _CODES)
def each(texts: Any, lengths: Any, n: int, low: np.uint64, high: np.uint64, out: Any) -> int:
    """Write 64 bits of each of `n` texts that stand one behind the other."""
    sizes, codes = view(lengths, n), view(out, n)
    total = 0
    for i in range(n):
        total += sizes[i]
    _each(view(texts, total), sizes, low, high, codes)
    return 0


@compiled
def _each(src: Bytes, lengths: NDArray[np.int64], low: np.uint64, high: np.uint64, codes: NDArray[np.uint64]) -> None:
    start = 0
    for i in range(len(lengths)):
        codes[i] = _code(src, start, lengths[i], low, high)
        start += lengths[i]


@entry(i64, _BYTES, i64, u64, u64, _CODES)
def long(text: Any, n: int, low: np.uint64, high: np.uint64, out: Any) -> int:
    """Write 128 bits of `n` bytes, as two words."""
    codes = view(out, 2)
    v0, v1, v2, v3 = _absorbed(view(text, n), 0, n, low, high, np.uint64(0xEE))
    v0, v1, v2, v3 = _three(v0, v1, v2 ^ np.uint64(0xEE), v3)
    codes[0] = v0 ^ v1 ^ v2 ^ v3
    v0, v1, v2, v3 = _three(v0, v1 ^ np.uint64(0xDD), v2, v3)
    codes[1] = v0 ^ v1 ^ v2 ^ v3
    return 0
