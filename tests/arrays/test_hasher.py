"""Hashes under a secret, against CPython's own SipHash and a readable reference."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
import xxhash

from evercrawl.arrays.hasher import Hasher
from tests.helpers.hashing import HASHER

MASK = (1 << 64) - 1
TEXTS = [bytes(i % 251 for i in range(n)) for n in (*range(1, 40), 63, 64, 65, 255, 256, 1000)]


def left(word, bits):
    return (word << bits | word >> 64 - bits) & MASK


def rounds(v, count):
    v0, v1, v2, v3 = v
    for _ in range(count):
        v0, v2 = v0 + v1 & MASK, v2 + v3 & MASK
        v1, v3 = left(v1, 13) ^ v0, left(v3, 16) ^ v2
        v0 = left(v0, 32)
        v2, v0 = v2 + v1 & MASK, v0 + v3 & MASK
        v1, v3 = left(v1, 17) ^ v2, left(v3, 21) ^ v0
        v2 = left(v2, 32)
    return v0, v1, v2, v3


def siphash(data, secret, *, once, ended, wide):
    """Return SipHash as its authors have it, with `once` rounds a word and `ended` at the end; 128 bits if `wide`."""
    low, high = (int.from_bytes(secret[i : i + 8], "little") for i in (0, 8))
    v0, v1, v2, v3 = (
        mask ^ word
        for mask, word in zip(
            (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573),
            (low, high ^ 0xEE * wide, low, high),
            strict=True,
        )
    )
    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 0xFF])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i : i + 8], "little")
        v0, v1, v2, v3 = rounds((v0, v1, v2, v3 ^ word), once)
        v0 ^= word
    v0, v1, v2, v3 = rounds((v0, v1, v2 ^ (0xEE if wide else 0xFF), v3), ended)
    found = [v0 ^ v1 ^ v2 ^ v3]
    if wide:
        v0, v1, v2, v3 = rounds((v0, v1 ^ 0xDD, v2, v3), ended)
        found.append(v0 ^ v1 ^ v2 ^ v3)
    return found


@pytest.mark.parametrize(
    ("wide", "expected"), [(False, "a129ca6149be45e5"), (True, "5493e99933b0a8117e08ec0f97cfc3d9")]
)
def test_the_reference_gives_the_values_of_the_paper(wide, expected):
    """SipHash-2-4 of 15 bytes: appendix A, and `vectors.h` of the authors' code for 128 bits."""
    found = siphash(bytes(range(15)), bytes(range(16)), once=2, ended=4, wide=wide)
    if wide:
        assert b"".join(word.to_bytes(8, "little") for word in found).hex() == expected
    else:
        assert f"{found[0]:016x}" == expected


@pytest.mark.parametrize("data", TEXTS, ids=len)
def test_hashes_are_those_of_the_reference(data):
    assert HASHER.short(data) == siphash(data, HASHER.secret, once=1, ended=3, wide=False)[0]
    assert list(HASHER.digest(data)) == siphash(data, HASHER.secret, once=1, ended=3, wide=True)


@pytest.mark.skipif(sys.hash_info.algorithm != "siphash13", reason="this Python hashes otherwise")
def test_hashes_are_those_of_python():
    code = f"print(*(hash(text) for text in {TEXTS!r}))"
    said = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": "0"}, capture_output=True, check=True
    )
    unkeyed = Hasher(bytes(16))
    found = [int(np.uint64(unkeyed.short(text)).astype(np.int64)) for text in TEXTS]
    assert found == [int(word) for word in said.stdout.split()]


def test_keys_are_the_key_of_each():
    urls = ["http://example.org/", "", "http://example.org/ü", "http://example.org/"]
    for hasher in (HASHER, Hasher(b"")):
        got = hasher.keys(urls)
        assert got.dtype == np.uint64
        assert got.tolist() == [hasher.key(url) for url in urls] == [hasher.short(url.encode()) for url in urls]
        assert hasher.keys([]).shape == (0,)


def test_another_secret_has_other_hashes():
    draw = random.Random(1)
    hashers = [Hasher(draw.randbytes(16)) for _ in range(50)]
    assert len({hasher.key("http://a/") for hasher in hashers}) == 50
    assert len({hasher.digest(b"content") for hasher in hashers}) == 50
    assert len({hasher.mark for hasher in hashers}) == 50


def test_without_a_secret_hashes_are_those_of_before():
    before = Hasher(b"")
    assert before.key("http://example.org/") == xxhash.xxh3_64_intdigest(b"http://example.org/") == 0xB73DC5B066F53581
    assert before.digest(b"") == (0x2D06800538D394C2, 0)
    assert before.mark == 0


def test_the_secret_is_not_shown():
    secret = os.urandom(16)
    assert secret.hex() not in f"{Hasher(secret)} {Hasher(secret)!r}"
    with pytest.raises(AssertionError, match="16 bytes"):
        Hasher(b"short")
