"""Digests and keys."""

import numpy as np

from evercrawl.parse.digest import digest, key, keys


def test_known_values():
    assert digest(b"") == 0x2D06800538D394C2
    assert key("http://example.org/") == digest(b"http://example.org/") == 0xB73DC5B066F53581


def test_keys_are_the_key_of_each():
    urls = ["http://example.org/", "http://example.org/a", "http://example.org/"]
    got = keys(urls)
    assert got.dtype == np.uint64
    assert got.tolist() == [key(url) for url in urls]
    assert keys([]).shape == (0,)
