"""Pickles of strangers: they name no code that runs, and take no more memory or time than their size suggests."""

import pickle
import tracemalloc

import pytest

from evercrawl.crawl.importing.captures import UnusableError
from evercrawl.crawl.importing.forms import pickled


@pytest.mark.parametrize("protocol", range(3, pickle.HIGHEST_PROTOCOL + 1))
def test_requests_are_read(protocol):
    request = {"url": "http://a.example/", "body": b"x" * 100_000, "meta": {f"k{n}": [n] * 3 for n in range(1000)}}
    assert pickled.read(pickle.dumps(request, protocol)) == request


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02}r" + (60_000_000).to_bytes(4, "little") + b".",  # LONG_BINPUT
        b"}p60000000\n.",  # PUT
        b"\x80\x04}\x8e" + (1 << 40).to_bytes(8, "little") + b".",  # BINBYTES8, longer than the data
        b"\x80\x03}B" + (60_000_000).to_bytes(4, "little") + b".",  # BINBYTES
        b"\x80\x05}\x96" + (60_000_000).to_bytes(8, "little") + b".",  # BYTEARRAY8
    ],
    ids=["long_binput", "put", "binbytes8", "binbytes", "bytearray8"],
)
def test_a_pickle_of_a_few_bytes_takes_little_memory(data):
    tracemalloc.start()
    try:
        with pytest.raises(UnusableError):
            pickled.read(data)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_keys_with_equal_hashes_are_refused():
    modulus = (1 << 61) - 1  # of the hashes of whole numbers
    keys = {1 + number * modulus: None for number in range(8)}
    assert len({hash(key) for key in keys}) == 1
    many = b"\x80\x02}(" + b"".join(pickle.dumps(key, 2)[2:-1] + b"N" for key in keys) * 2000 + b"u."
    with pytest.raises(UnusableError, match="over 20,000 instructions"):
        pickled.read(many)


def test_a_large_pickle_is_refused():
    with pytest.raises(UnusableError, match="the limit is 16,777,216"):
        pickled.read(pickle.dumps({"body": b"x" * pickled.MOST_BYTES}))
