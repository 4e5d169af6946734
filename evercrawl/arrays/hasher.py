"""Hashes under the secret of a crawl: nobody who does not know it can look for two texts that have the same.

URLs, contents and words are chosen by strangers. Under a public function, or one with a secret seed that mixes it in
too weakly (XXH3, FNV, MurmurHash), they find two of the same hash, or thousands that are close together in a table, in
seconds. SipHash is a pseudorandom function of its secret, made for short texts. It is the variant with one round a
word and three at the end, as CPython and Rust have it in their tables; contents take the one of 128 bits.

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
    """Hashes as one crawl has them.

    Parameters
    ----------
    secret
        16 bytes, or none: then hashes are XXH3, a public function, as in directories of before there were secrets.

    Attributes
    ----------
    secret
        As given. It is never shown.

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
        """Return whether there is a secret, and not which."""
        return f"Hasher({'keyed' if self.secret else 'unkeyed'})"

    @property
    def words(self) -> tuple[int, int]:
        """The secret as two numbers of 64 bits, as kernels take it; zeros where there is none."""
        return self._low, self._high

    @property
    def mark(self) -> int:
        """64 bits that tell hashes under this secret from those under others; 0 where there is none."""
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
        """Return 64 bits of each of some texts, shape (n,), as `short` does."""
        if not self.secret:
            return np.fromiter(map(xxhash.xxh3_64_intdigest, data), np.uint64, len(data))
        return self._each(b"".join(data), np.fromiter(map(len, data), np.int64, len(data)))

    def _each(self, data: bytes, lengths: Ints) -> Keys:
        found = np.empty(len(lengths), np.uint64)
        _KERNELS["each"](data, pointer(lengths), len(lengths), self._low, self._high, pointer(found))
        return found

    def digest(self, body: bytes) -> tuple[int, int]:
        """Return 128 bits of a content, in two words; the second is 0 where there is no secret.

        Contents whose digests are the same are taken for the same.
        """
        if not self.secret:
            return xxhash.xxh3_64_intdigest(body), 0
        words = array("Q", (0, 0))
        _KERNELS["long"](body, len(body), self._low, self._high, pointer(words))
        return words[0], words[1]

    def has(self, body: bytes, digest: int, rest: int) -> bool:
        """Whether a content has this digest; one without a second word is of before there was a secret.

        >>> before, now = Hasher(b""), Hasher(bytes(16))
        >>> now.has(b"a", *before.digest(b"a")), now.has(b"a", *now.digest(b"a")), now.has(b"b", *before.digest(b"a"))
        (True, True, False)
        """
        return (digest, rest) == (self.digest(body) if rest else (xxhash.xxh3_64_intdigest(body), 0))
