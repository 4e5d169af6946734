"""Operations on eight bytes at a time, in compiled code, such as finding letters or a certain byte.

Loops over single bytes end unpredictably, and each mispredicted branch costs as much as twenty bytes. Here eight
bytes are one number, and each question is answered by the high bits of its bytes (Lamport 1975, Multiple byte
processing with full-word instructions).
"""

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled, trailing_zeros

EACH, HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@compiled
def eight(src: NDArray[np.uint8], i: int) -> np.uint64:
    """Return the eight bytes from `i` on as one little-endian number."""
    at, number = np.uint64(i), np.uint64(0)
    for k in range(8):
        number |= np.uint64(src[at + np.uint64(k)]) << np.uint64(8 * k)
    return number


@compiled
def upto_eight(src: NDArray[np.uint8], i: int) -> np.uint64:
    """Return the same; bytes beyond the end of `src` are zero."""
    if i + 8 <= len(src):
        return eight(src, i)
    number = np.uint64(0)
    for k in range(len(src) - i):
        number |= np.uint64(src[i + k]) << np.uint64(8 * k)
    return number


@compiled
def equal(bytes8: np.uint64, pattern: np.uint64) -> np.uint64:
    """Return the high bit of each byte that equals that of `pattern`; correct up to the first match."""
    differ = bytes8 ^ pattern
    return (differ - EACH) & ~differ & HIGH


@compiled
def below(bytes8: np.uint64, limit: int) -> np.uint64:
    """Return the high bit of each byte that is less than `limit` (<= 128); correct up to the first match."""
    return (bytes8 - np.uint64(limit) * EACH) & ~bytes8 & HIGH


@compiled
def first(high_bits: np.uint64) -> int:
    """Return the index of the first byte with its high bit set; 8 if there is none."""
    return int(trailing_zeros(high_bits) >> 3)


@compiled
def letters(bytes8: np.uint64) -> np.uint64:
    """Return the high bit of each byte that is an ASCII letter."""
    low = (bytes8 | EACH << np.uint64(5)) & ~HIGH
    return ((low + EACH * np.uint64(0x1F)) ^ (low + EACH * np.uint64(0x05))) & HIGH & ~bytes8


@compiled
def digits(bytes8: np.uint64) -> np.uint64:
    """Return the high bit of each byte that is an ASCII digit."""
    low = bytes8 & ~HIGH
    return ((low + EACH * np.uint64(0x50)) ^ (low + EACH * np.uint64(0x46))) & HIGH & ~bytes8
