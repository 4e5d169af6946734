"""What counts as a change, with the digests that the crawl computes."""

import random

import pytest
from closed_forms import extent

from evercrawl.change.extent import changed
from evercrawl.parse.html import read
from evercrawl.parse.simhash import simhash
from tests.helpers.hashing import HASHER


def page(nonce: str, words: str) -> bytes:
    return (
        f"<html><head><meta name=csrf content={nonce}></head><body><p class={nonce}>{words}</p></body></html>".encode()
    )


def worded(body: bytes) -> int:
    return read(body, "http://example.com/", "text/html", hasher=HASHER).words


def words(count: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [f"w{rng.randrange(10**6)}" for _ in range(count)]


def test_a_nonce_is_no_change_of_the_page():
    before, after = page("a1", "The quick brown fox"), page("b2", "The quick brown fox")
    assert before != after
    assert not changed(1, worded(after), 2, worded(before))


def test_other_words_are():
    before, after = page("a1", "The quick brown fox"), page("a1", "The quick red fox")
    assert changed(1, worded(after), 2, worded(before))
    assert not changed(1, worded(after), 1, worded(before))


def test_without_words_the_bytes_decide():
    assert changed(1, 0, 2, 0)
    assert changed(1, 5, 2, 0)
    assert changed(1, 0, 2, 5)
    assert not changed(7, 0, 7, 0)


def test_one_word_of_a_long_page_counts():
    text = words(10_000)
    edited = [*text[:50], "edited", *text[51:]]
    assert changed(1, worded(page("a1", " ".join(edited))), 2, worded(page("a1", " ".join(text))))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.8])
def test_extent_is_the_share_of_new_words(share):
    found = []
    for seed in range(100):
        text, other = words(1500, seed), words(1500, seed + 1000)
        new = int(share * 1500)
        found.append(extent(simhash(" ".join(other[:new] + text[new:]), HASHER), simhash(" ".join(text), HASHER)))
    assert sum(found) / 100 == pytest.approx(share, abs=0.06)


def test_extent_has_ends():
    assert extent(9, 9) == 0.0
    assert extent(0, 9) == extent(9, 0) == extent(0, 0) == 1.0
    assert extent((1 << 64) - 1, 1) == 1.0
