import gzip
import time
import tracemalloc
import zlib
from functools import partial

import brotli
import pytest

from evercrawl.fetch.chunked import MAX_CHUNKS
from evercrawl.fetch.coding import ChunkedEnd, Decoded, dechunk, decode

gzipped = partial(gzip.compress, mtime=0)  # or names of tests would differ between the processes that run them
PAGE = b"<html><title>page</title>" + b"<p>some text, and more of it</p>" * 500
RAW_DEFLATE = zlib.compressobj(wbits=-15)
BARE = RAW_DEFLATE.compress(PAGE) + RAW_DEFLATE.flush()
GARBAGE = bytes(range(256)) * 8
MIB = 1 << 20


def chunks(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("coding", "coded"),
    [
        ("gzip", gzipped(PAGE)),
        ("x-gzip", gzipped(PAGE)),
        ("GZIP", gzipped(PAGE)),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", BARE),
        ("br", brotli.compress(PAGE)),
        ("identity", PAGE),
        ("", PAGE),
        ("identity, gzip", gzipped(PAGE)),
        ("br, gzip", gzipped(brotli.compress(PAGE))),
        ("gzip , deflate,br", brotli.compress(zlib.compress(gzipped(PAGE)))),
    ],
)
def test_codings_are_undone(coding, coded):
    assert decode(coded, coding, MIB) == Decoded(PAGE)


def test_members_of_gzip_are_joined():
    assert decode(gzipped(b"a") + gzipped(b"b") + gzipped(b"c"), "gzip", 9) == Decoded(b"abc")


def test_what_follows_gzip_is_ignored():
    assert decode(gzipped(PAGE) + b"\0\0junk", "gzip", MIB) == Decoded(PAGE)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "nonsense", "gzip, br"])
def test_plain_text_that_claims_a_coding_is_taken_as_it_is(coding):
    assert decode(PAGE, coding, MIB) == Decoded(PAGE)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "nonsense"])
def test_garbage_is_an_error(coding):
    assert decode(GARBAGE, coding, MIB) == Decoded(b"", "coding")


@pytest.mark.parametrize("at", [30, -6])
def test_damaged_gzip_is_an_error(at):
    coded = bytearray(gzipped(PAGE))
    coded[at] ^= 0xFF
    assert decode(bytes(coded), "gzip", MIB).error == "coding"


def test_four_codings_are_too_many():
    coded = gzipped(gzipped(gzipped(gzipped(b"x"))))
    assert decode(coded, "gzip, gzip, gzip, gzip", MIB) == Decoded(b"", "coding")


@pytest.mark.parametrize(
    ("coding", "coded"), [("gzip", gzipped(PAGE)), ("deflate", zlib.compress(PAGE)), ("deflate", BARE)]
)
def test_the_start_of_a_stream_is_truncated(coding, coded):
    body, error, truncated = decode(coded[: len(coded) // 2], coding, MIB)
    assert body
    assert PAGE.startswith(body)
    assert (error, truncated) == ("", True)


def test_the_start_of_brotli_is_truncated():
    assert decode(brotli.compress(PAGE)[:-2], "br", MIB).truncated


def test_the_start_of_a_second_member_is_truncated():
    assert decode(gzipped(b"a") + gzipped(PAGE)[:20], "gzip", MIB).truncated


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "", "gzip, gzip"])
def test_the_cap_is_exact(coding):
    coders = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}
    coded = PAGE
    for name in coding.split(", ") if coding else []:
        coded = coders[name](coded)
    assert decode(coded, coding, len(PAGE)) == Decoded(PAGE)
    assert decode(coded, coding, len(PAGE) - 1) == Decoded(PAGE[:-1], "", True)


def gibibyte_of_zeros(header):
    """Make a stream of 1 GiB from one MiB, which a full flush makes repeatable."""
    coder = zlib.compressobj(9, wbits=-15)
    return header + (coder.compress(bytes(MIB)) + coder.flush(zlib.Z_FULL_FLUSH)) * 1024


@pytest.mark.parametrize(("coding", "header"), [("gzip", gzipped(b"")[:10]), ("deflate", b"\x78\x9c")])
def test_a_bomb_costs_its_cap(coding, header):
    bomb = gibibyte_of_zeros(header)
    began = time.process_time()
    body, error, truncated = decode(bomb, coding, 10 * MIB)
    took_s = time.process_time() - began
    assert (len(body), error, truncated) == (10 * MIB, "", True)
    assert took_s < 1
    tracemalloc.start()
    decode(bomb, coding, 10 * MIB)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 48 * MIB


def test_many_tiny_members_take_linear_time():
    began = time.process_time()
    assert decode(gzipped(b"") * 500_000, "gzip", 10 * MIB).truncated
    assert time.process_time() - began < 1


def test_chunks_are_joined():
    assert dechunk(chunks(b"a" * 300, b"b", PAGE), MIB) == (b"a" * 300 + b"b" + PAGE, ChunkedEnd.WHOLE)


@pytest.mark.parametrize(
    ("wire", "content"),
    [
        (b'5;name="v"\r\nhello\r\n0;x\r\n\r\n', b"hello"),
        (b"5 \r\nhello\r\n0\r\nA: b\r\n\r\n", b"hello"),
        (b"0000005\r\nhello\r\n00\r\n\r\n", b"hello"),
        (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"0\r\n", b""),
    ],
)
def test_chunks_as_the_standard_has_them(wire, content):
    assert dechunk(wire, MIB) == (content, ChunkedEnd.WHOLE)


@pytest.mark.parametrize(
    "line", [b"-1", b"+5", b"0x5", b"5_0", b" 5", b"zz", b"", b"5\n", b"11111111111111111", b"5;a\rb"]
)
def test_bad_chunk_sizes_are_malformed(line):
    assert dechunk(b"2\r\nhi\r\n" + line + b"\r\nhello\r\n0\r\n\r\n", MIB) == (b"hi", ChunkedEnd.MALFORMED)


def test_a_chunk_longer_than_its_size_is_malformed():
    assert dechunk(b"2\r\nhixx\r\n0\r\n\r\n", MIB) == (b"hi", ChunkedEnd.MALFORMED)


def test_every_prefix_is_truncated():
    wire = b"5;x=y\r\nhello\r\n1\r\n!\r\n0\r\n"
    for end in range(len(wire)):
        content, status = dechunk(wire[:end], MIB)
        assert b"hello!".startswith(content)
        assert status is ChunkedEnd.TRUNCATED


def test_the_cap_cuts_chunks():
    assert dechunk(chunks(b"hello"), 5) == (b"hello", ChunkedEnd.WHOLE)
    assert dechunk(chunks(b"hello", b"!"), 5) == (b"hello", ChunkedEnd.TRUNCATED)
    assert dechunk(chunks(b"hello"), 3) == (b"hel", ChunkedEnd.TRUNCATED)


def test_chunks_of_one_byte_take_linear_time():
    began = time.process_time()
    assert dechunk(b"1\r\nx\r\n" * MAX_CHUNKS, MIB) == (b"x" * MAX_CHUNKS, ChunkedEnd.TRUNCATED)
    assert len(dechunk(b"1\r\nx\r\n" * 2_000_000, 10 * MIB)[0]) == MAX_CHUNKS
    assert time.process_time() - began < 2
