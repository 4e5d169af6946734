"""What the index takes in of a long page is made where the page is read, which may be another process."""

import msgspec
import pytest

from evercrawl.model.stored.contents import Body, Content, contents
from evercrawl.search.condense import HEAD_BYTES, condense

FILLER = "filler words that say the same " * (HEAD_BYTES // 20)


def read(page, kind="text/html", *, text=True):
    data = page.encode()
    return contents(
        Body(
            "http://a/",
            {"content-type": kind},
            "1.1",
            data,
            False,
            len(data),
            len(data),
            False,
            0,
            0,
            "a",
            text,
            bytes(16),
        )
    )


@pytest.mark.parametrize("kind", ["text/html", "text/plain"])
def test_a_long_page_is_condensed_where_it_is_read(kind):
    content = read(FILLER + "pagoda", kind)
    assert content.indexed == condense(content.text)
    assert content.indexed.endswith(" pagoda")
    assert len(content.indexed) < len(content.text)


def test_a_short_page_is_indexed_as_it_stands():
    assert read("green tea").indexed == ""


def test_bytes_of_text_are_counted_also_where_it_is_not_wanted_and_of_what_is_indexed():
    text = "tea \N{LATIN SMALL LETTER E WITH ACUTE}"
    short, long = read(text), read(FILLER + "pagod\N{LATIN SMALL LETTER A WITH ACUTE}")
    assert (short.text_bytes, short.index_bytes) == (6, 6)
    assert (long.text_bytes, long.index_bytes) == (len(long.text), len(long.indexed.encode()))
    unwanted = read(FILLER, text=False)
    assert (unwanted.text_bytes, unwanted.index_bytes) == (len(FILLER) - 1, HEAD_BYTES)
    plain = read(FILLER, "text/plain", text=False)
    assert (plain.text_bytes, read("tea", "image/png").text_bytes) == (len(FILLER) - 1, 0)


def test_nothing_is_condensed_that_will_not_be_indexed():
    assert read("<meta name=robots content=noindex>" + FILLER).indexed == ""
    assert read(FILLER, text=False).indexed == ""


def test_it_comes_through_a_channel_whatever_the_page_holds():
    content = read("a\ud7ff\U0001f375\ufffd b " + FILLER, "text/plain")
    assert msgspec.msgpack.Decoder(Content).decode(msgspec.msgpack.encode(content)).indexed == content.indexed
