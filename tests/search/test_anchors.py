"""What links say, and only when it was not said of late."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.search.anchors import Anchors
from evercrawl.types import NO_SLOT

Anchors().new(np.zeros((1, 3), np.int32), np.zeros(1, np.uint32), b"")  # compiled here, before any deadline runs


def said(anchors, pairs):
    """Return what is new of pairs of slot and words, each a link of one page."""
    text, spans = b"", []
    for place, (_, words) in enumerate(pairs):
        text += b" "
        spans.append((len(text), len(text) + len(words.encode()), place))
        text += words.encode()
    slots = np.array([slot for slot, _ in pairs], np.uint32)
    return anchors.new(np.array(spans, np.int32).reshape(-1, 3), slots, text)


def test_a_pair_is_told_once():
    anchors = Anchors()
    assert said(anchors, [(1, "The Path"), (2, "the path"), (1, "THE PATH"), (1, "Other")]) == [
        (1, "the path"),
        (2, "the path"),
        (1, "other"),
    ]
    assert said(anchors, [(2, "The path"), (3, "other"), (1, "the path")]) == [(3, "other")]


def test_nothing_is_told_of_what_is_not_known():
    anchors = Anchors()
    assert said(anchors, [(NO_SLOT, "words"), (0, "words")]) == [(0, "words")]
    assert said(anchors, []) == []


NOTHING = [
    "a",
    "Z",
    "7",
    "2024",
    "3.11",
    "\xb6",
    "\xbb",
    "\u2192",
    "\u2026",
    "...",
    "\xa74",
    "4-5",
    "\U0001f517",
    "\ue000",
]
URLS = ["http://example.org/a", "HTTPS://a.example", "www.example.org"]
SOMETHING = [
    *(
        "ab",
        "c#",
        "\xe91",
        "漢",
        "の",
        "日本",
        "привет",
        "עברית",
        "हिन्दी",
        "\U00020000",
        "x²",
        "4th",
        "www",
        "wwwords",
        "c 1",
    ),
    *("next", "home", "here", "read more", "\xbb next", "www.example.org home", "http://example.org is down"),
]


@pytest.mark.parametrize("words", NOTHING + URLS)
def test_words_that_say_nothing_are_left_out(words):
    assert said(Anchors(), [(1, words)]) == []


@pytest.mark.parametrize("words", SOMETHING)
def test_words_that_say_something_are_told(words):
    assert said(Anchors(), [(1, words)]) == [(1, words)]


WORDS = st.text(min_size=1, max_size=6)


@settings(derandomize=True)  # two pairs may have the same place, if rarely
@given(
    st.lists(
        st.tuples(st.integers(0, 5), WORDS.filter(lambda words: words.isprintable() and "www." not in words)),
        max_size=30,
    )
)
def test_as_a_set_does(pairs):
    """In a large table nearly nothing is forgotten, and letters are what Unicode says."""
    anchors = Anchors()
    want = {}
    for slot, words in pairs:
        ideograph = any(c.isalpha() and c >= "\u2e80" for c in words)
        tells = any(map(str.isalpha, words)) and (len(words) > 1 or ideograph)
        key = "".join(c.lower() if c.isascii() else c for c in words)
        if tells:
            want.setdefault((slot, key), (slot, words.lower()))
    assert said(anchors, pairs) == list(want.values())
    assert said(anchors, pairs) == []


def test_what_was_forgotten_is_told_again():
    anchors = Anchors(places=1)
    assert len(said(anchors, [(1, "one"), (2, "two"), (1, "one")])) == 3
    assert said(anchors, [(1, "one")]) == []


def test_few_are_forgotten():
    anchors = Anchors(places=1 << 10)
    pairs = [(slot, f"page {slot % 7}") for slot in range(100)]
    assert len(said(anchors, pairs)) == 100
    assert len(said(anchors, pairs)) <= 20


BROKEN = st.lists(
    st.sampled_from([b"a", b"B", b" ", b"\xe2", b"\x82", b"\xac", b"\xf0\x9f", b"\xce\xa3", b"\xff"]), max_size=20
)


@given(BROKEN, st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_any_bytes_will_do(pieces, first, second, last):
    text = b"".join(pieces)
    first, second, last = sorted(min(cut, len(text)) for cut in (first, second, last))
    spans = np.array([[first, second, 0], [second, last, 1]], np.int32)
    words = {place: text[start:end].decode("utf-8", "replace").lower() for start, end, place in spans.tolist()}
    assert all(words[place] == said for place, said in Anchors().new(spans, np.arange(2, dtype=np.uint32), text))


@pytest.mark.parametrize("span", [(0, 6, 0), (-1, 3, 0), (0, 3, 1), (0, 3, -1)])
def test_spans_of_another_page_are_our_own_fault(span):
    with pytest.raises(AssertionError):
        Anchors().new(np.array([span], np.int32), np.array([3], np.uint32), b"words")


def test_memory_need_not_be_writable():
    spans = np.frombuffer(np.array([[0, 5, 0]], np.int32).tobytes(), np.int32).reshape(-1, 3)
    slots = np.frombuffer(np.array([3], np.uint32).tobytes(), np.uint32)
    assert Anchors().new(spans, slots, b"words") == [(3, "words")]


def test_a_memory_that_is_emptied_takes_everything_for_new():
    anchors = Anchors()
    said(anchors, [(1, "words")])
    anchors.forget()
    assert said(anchors, [(1, "words")]) == [(1, "words")]


def test_more_words_than_links_usually_have_are_told_whole():
    pairs = [(slot, f"Word {slot} " + "\xdcber " * 2_000) for slot in range(100)]
    assert said(Anchors(), pairs) == [(slot, words.lower()) for slot, words in pairs]


def test_a_page_of_more_links_than_usual_is_read_whole():
    pairs = [(slot, f"Word {slot}") for slot in range(5_000)]
    assert said(Anchors(), pairs) == [(slot, words.lower()) for slot, words in pairs]
