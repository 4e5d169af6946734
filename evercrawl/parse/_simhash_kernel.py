"""Compiled similarity hash: one pass over the bytes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays._siphash_kernel import mapped, seven
from evercrawl.kernels.build import compiled, entry, i64, pointer, u64, view
from evercrawl.kernels.eight import EACH, HIGH, digits, eight, first, letters
from evercrawl.parse._bytes_kernel import Bytes
from evercrawl.parse.simhash import PRIME, SEED, SHINGLE_1, SHINGLE_2, SPACELESS, WORD_BYTES

_WORD, _SPACELESS = np.frombuffer(WORD_BYTES, np.uint8), SPACELESS.start
_SAME = np.arange(256).astype(np.uint8)
_PRIME, _SEED, _ONE = np.uint64(PRIME), np.uint64(SEED), np.uint64(1)
_FIRST, _SECOND = np.uint64(SHINGLE_1), np.uint64(SHINGLE_2)


@compiled
def _mixed(code: np.uint64) -> np.uint64:
    code ^= code >> np.uint64(32)
    code *= _FIRST
    code ^= code >> np.uint64(29)
    code *= _SECOND
    return code ^ code >> np.uint64(32)


@entry(u64, pointer(np.uint8), i64, i64, u64, u64, pointer(np.int32))
def simhash(text: Any, size: int, keyed: int, low: np.uint64, high: np.uint64, votes: Any) -> np.uint64:
    """Return the similarity hash of UTF-8 text; see `evercrawl.parse.simhash`.

    If `keyed`, words are hashed with a secret of two numbers. `votes`, 64 numbers, is scratch.
    """
    return _simhash(view(text, size), keyed, low, high, view(votes, 64))


@compiled
def _simhash(src: Bytes, keyed: int, low: np.uint64, high: np.uint64, votes: NDArray[np.int32]) -> np.uint64:
    votes[:] = 0
    n, i, features = len(src), 0, 0
    before = last = ones = twos = fours = eights = np.uint64(0)
    while i < n:
        word, length, i = _next_keyed(src, i, n, low, high) if keyed else _next_word(src, i, n)
        if length == 0:
            continue
        feature = _mixed(word ^ before * _FIRST ^ last * _SECOND)
        before, last = last, word
        features += 1
        # sixty-four bit-sliced counters, one bit of each per number; flushed before they overflow
        ones, carry = ones ^ feature, ones & feature
        twos, carry = twos ^ carry, twos & carry
        fours, carry = fours ^ carry, fours & carry
        eights ^= carry
        if features % 15 == 0:
            _add(votes, ones, twos, fours, eights)
            ones = twos = fours = eights = np.uint64(0)
    _add(votes, ones, twos, fours, eights)
    code = np.uint64(0)
    for bit in range(64):
        if 2 * votes[bit] > features:
            code |= _ONE << np.uint64(bit)
    return code


@compiled
def _next_keyed(src: Bytes, i: int, n: int, low: np.uint64, high: np.uint64) -> tuple[np.uint64, int, int]:
    """Return the same as `_next_word`, with the word hashed under a secret."""
    if i + 8 <= n:
        lower, words, alone = _told_apart(eight(src, i))
        length = first(~words & HIGH)
        if length == 0 and not alone & np.uint64(0x80):
            return np.uint64(0), 0, i + first(words | alone)
        if 0 < length < 8:
            short = np.uint64(8 * length)
            word = seven(lower & ((_ONE << short) - _ONE), length, low, high)
            return word, length, i + first((words | alone) >> short << short)
    end = i
    if _WORD[src[i]] == 0:
        if src[i] < _SPACELESS:
            return np.uint64(0), 0, i + 1
        end = min(i + 3, n)
        return mapped(src, i, end - i, _SAME, low, high), end - i, end
    while end < n and _WORD[src[end]]:
        end += 1
    return mapped(src, i, end - i, _WORD, low, high), end - i, end


@compiled
def _next_word(src: Bytes, i: int, n: int) -> tuple[np.uint64, int, int]:
    """Return the hash of the word at `i`, the length hashed (0 if there is no word), and the next position."""
    if i + 8 > n:
        return _bytewise(src, i, n, _SEED)
    lower, words, alone = _told_apart(eight(src, i))
    length = first(~words & HIGH)
    if length == 0:
        if alone & np.uint64(0x80):
            return _bytewise(src, i, n, _SEED)
        return _SEED, 0, i + first(words | alone)
    word = _SEED
    for k in range(8):  # branch-free, so that one word is hashed while the end of the next is searched
        longer = (word ^ (lower >> np.uint64(8 * k) & np.uint64(0xFF))) * _PRIME
        word = longer if k < length else word
    if length == 8:
        word, _, i = _bytewise(src, i + 8, n, word)
        return word, 8, i
    return word, length, i + first((words | alone) >> np.uint64(8 * length) << np.uint64(8 * length))


@compiled
def _told_apart(text: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return eight bytes in lower case, and the high bits of those in words, and of those that form words alone."""
    high, low, capitals = text & HIGH, text & ~HIGH, letters(text)
    alone = ((low + EACH * np.uint64(0x1D)) ^ (low + EACH * np.uint64(0x12))) & high
    return text | capitals >> np.uint64(2), capitals | digits(text) | (high & ~alone), alone


@compiled
def _bytewise(src: Bytes, i: int, n: int, word: np.uint64) -> tuple[np.uint64, int, int]:
    """Continue the word at `i`, or begin one if `word` is the seed."""
    start, byte = i, _WORD[src[i]] if i < n else 0
    if word == _SEED and byte == 0:
        if src[i] < _SPACELESS:
            return word, 0, i + 1
        while i < min(start + 3, n):
            word = (word ^ np.uint64(src[i])) * _PRIME
            i += 1
        return word, i - start, i
    while byte:
        word = (word ^ np.uint64(byte)) * _PRIME
        i += 1
        byte = _WORD[src[i]] if i < n else 0
    return word, i - start, i


@compiled
def _add(votes: NDArray[np.int32], ones: np.uint64, twos: np.uint64, fours: np.uint64, eights: np.uint64) -> None:
    """Add the values of sixty-four four-bit counters."""
    for bit in range(64):
        at = np.uint64(bit)
        low = (ones >> at & _ONE) + np.uint64(2) * (twos >> at & _ONE)
        votes[bit] += np.int32(low + np.uint64(4) * (fours >> at & _ONE) + np.uint64(8) * (eights >> at & _ONE))
