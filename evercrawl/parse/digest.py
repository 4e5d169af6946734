"""64-bit names: of a body, and of a URL."""

import numpy as np
from xxhash import xxh3_64_intdigest

from evercrawl.types import Keys


def digest(body: bytes) -> int:
    """Return the XXH3-64 of `body`: equal bodies are taken for equal when their digests are.

    Examples
    --------
    >>> f"{digest(b''):016x}"
    '2d06800538d394c2'
    """
    return xxh3_64_intdigest(body)


def key(url: str) -> int:
    """Return the 64-bit key of a normalised URL: the XXH3-64 of its UTF-8."""
    return xxh3_64_intdigest(url.encode())


def keys(urls: list[str]) -> Keys:
    """Return the keys of `urls`; shape (n,).

    Examples
    --------
    >>> int(keys(["http://example.org/"])[0]) == key("http://example.org/")
    True
    """
    return np.fromiter(map(xxh3_64_intdigest, map(str.encode, urls)), np.uint64, len(urls))
