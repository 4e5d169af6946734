"""The similarity hash in compiled code: one pass over the bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evercrawl.kernels.build import compiled, entry, i64, pointer, u64, view
from evercrawl.parse.simhash import PRIME, SEED, SHINGLE_1, SHINGLE_2, SPACELESS, WORD_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.parse._bytes_kernel import Bytes

_WORD, _SPACELESS = np.frombuffer(WORD_BYTES, np.uint8), SPACELESS.start
_PRIME, _SEED, _ONE = np.uint64(PRIME), np.uint64(SEED), np.uint64(1)
_FIRST, _SECOND = np.uint64(SHINGLE_1), np.uint64(SHINGLE_2)


@compiled
def _mixed(code: np.uint64) -> np.uint64:
    code ^= code >> np.uint64(32)
    code *= _FIRST
    code ^= code >> np.uint64(29)
    code *= _SECOND
    return code ^ code >> np.uint64(32)


@entry(u64, pointer(np.uint8), i64, pointer(np.int32))
def simhash(text: Any, size: int, votes: Any) -> np.uint64:
    """Return the similarity hash of UTF-8 text; see `evercrawl.parse.simhash`. `votes`, 64 numbers, is scratch."""
    return _simhash(view(text, size), view(votes, 64))


@compiled
def _simhash(src: Bytes, votes: NDArray[np.int32]) -> np.uint64:
    votes[:] = 0
    n, i, features = len(src), 0, 0
    before = last = np.uint64(0)
    while i < n:
        byte = _WORD[src[i]]
        if byte == 0 and src[i] < _SPACELESS:
            i += 1
            continue
        word = _SEED
        if byte == 0:
            for _ in range(min(3, n - i)):
                word = (word ^ np.uint64(src[i])) * _PRIME
                i += 1
        while byte:
            word = (word ^ np.uint64(byte)) * _PRIME
            i += 1
            byte = _WORD[src[i]] if i < n else 0
        feature = _mixed(word ^ before * _FIRST ^ last * _SECOND)
        before, last = last, word
        features += 1
        for bit in range(64):
            votes[bit] += np.int32(feature >> np.uint64(bit) & _ONE)
    code = np.uint64(0)
    for bit in range(64):
        if 2 * votes[bit] > features:
            code |= _ONE << np.uint64(bit)
    return code
