"""Hashes keyed with the secret of a crawl: without the secret, nobody can search for collisions.

URLs, contents and words are chosen by strangers. With a public hash function, or one that mixes in a secret seed too
weakly (XXH3, FNV, MurmurHash), they find collisions, or thousands of neighbours in a table, in seconds. SipHash is a
pseudorandom function of its secret, designed for short texts. This is the variant with one round per word and three at
the end, which CPython and Rust use in their tables; contents use the one of 128 bits.

References
----------
Aumasson, Bernstein (2012). SipHash: a fast short-input PRF.
"""

from array import array
from collections.abc import Sequence
from typing import Final

import numpy as np
import xxhash

from evercrawl.kernels import Library, pointer
from evercrawl.types import Ints, Keys

SECRET_BYTES: Final = 16
_KERNELS: Final = Library("evercrawl.arrays._siphash_kernel")
_MARK: Final = b"the secret of a crawl"


class Hasher:
    """The hash functions of one crawl.

    Parameters
    ----------
    secret
        16 bytes, or empty: then hashes are XXH3, a public function, as in directories from before secrets existed.

    Attributes
    ----------
    secret
        The secret. It is never shown.

    Examples
    --------
    >>> one, other = Hasher(bytes(range(16))), Hasher(bytes(16))
    >>> one.key("http://a.example/") == one.key("http://a.example/"), one.key("a") == other.key("a")
    (True, False)
    >>> one
    Hasher(keyed)
    """

    __slots__ = ("_high", "_low", "secret")

    def __init__(self, secret: bytes) -> None:
        assert len(secret) in (0, SECRET_BYTES), "a secret has 16 bytes"
        self.secret = secret
        self._low, self._high = (int.from_bytes(secret[i : i + 8], "little") for i in (0, 8))

    def __repr__(self) -> str:
        """Return whether there is a secret, without showing it."""
        return f"Hasher({'keyed' if self.secret else 'unkeyed'})"

    @property
    def words(self) -> tuple[int, int]:
        """The secret as two 64-bit numbers, for kernels; zeros if there is none."""
        return self._low, self._high

    @property
    def mark(self) -> int:
        """64 bits that identify the secret; 0 if there is none."""
        return self.short(_MARK) if self.secret else 0

    def short(self, data: bytes) -> int:
        """Return 64 bits of `data`."""
        if not self.secret:
            return xxhash.xxh3_64_intdigest(data)
        return int(_KERNELS["short"](data, len(data), self._low, self._high))

    def key(self, url: str) -> int:
        """Return the 64-bit key of a normalised URL."""
        return self.short(url.encode())

    def keys(self, urls: Sequence[str]) -> Keys:
        """Return the keys of `urls`; shape (n,).

        >>> hasher = Hasher(bytes(16))
        >>> hasher.keys(["a", "bc"]).tolist() == [hasher.key("a"), hasher.key("bc")]
        True
        """
        if not self.secret:
            return np.fromiter(map(xxhash.xxh3_64_intdigest, map(str.encode, urls)), np.uint64, len(urls))
        data, lengths = "".join(urls).encode(), np.fromiter(map(len, urls), np.int64, len(urls))
        if len(data) != int(lengths.sum()):  # not all is ASCII
            lengths = np.array([len(url.encode()) for url in urls], np.int64)
        return self._each(data, lengths)

    def shorts(self, data: Sequence[bytes]) -> Keys:
        """Return the 64-bit hash of each text, shape (n,), as `short` does."""
        if not self.secret:
            return np.fromiter(map(xxhash.xxh3_64_intdigest, data), np.uint64, len(data))
        return self._each(b"".join(data), np.fromiter(map(len, data), np.int64, len(data)))

    def _each(self, data: bytes, lengths: Ints) -> Keys:
        found = np.empty(len(lengths), np.uint64)
        _KERNELS["each"](data, pointer(lengths), len(lengths), self._low, self._high, pointer(found))
        return found

    def digest(self, body: bytes) -> tuple[int, int]:
        """Return the 128-bit digest of a content, in two words; the second is 0 if there is no secret.

        Contents with equal digests count as identical.
        """
        if not self.secret:
            return xxhash.xxh3_64_intdigest(body), 0
        words = array("Q", (0, 0))
        _KERNELS["long"](body, len(body), self._low, self._high, pointer(words))
        return words[0], words[1]

    def has(self, body: bytes, digest: int, rest: int) -> bool:
        """Return whether a content has this digest; one without a second word is from before the secret existed.

        >>> before, now = Hasher(b""), Hasher(bytes(16))
        >>> now.has(b"a", *before.digest(b"a")), now.has(b"a", *now.digest(b"a")), now.has(b"b", *before.digest(b"a"))
        (True, True, False)
        """
        return (digest, rest) == (self.digest(body) if rest else (xxhash.xxh3_64_intdigest(body), 0))
