"""The similarity hash: the compiled one is the readable one, and it measures likeness."""

import random

from hypothesis import example, given
from hypothesis import strategies as st

from evercrawl.parse.simhash import distance, reference, simhash, simhash_bytes

WORDS = st.sampled_from(
    ["the", "Quick", "fox", "über", "漢字", "かな", "한글", "\U0001f600", "3.14", "\ud800", "…", "--"]
)

simhash("")  # compiled here, before any deadline runs


@given(st.lists(WORDS).map(" ".join) | st.text())
@example("")
@example("漢")
@example("a漢b")
def test_compiled_is_reference(text):
    assert simhash(text) == reference(text)


@given(st.binary(max_size=200))
def test_any_bytes_will_do(data):
    assert 0 <= simhash_bytes(data) < 1 << 64


def test_no_words_no_hash():
    assert simhash("") == simhash(" .,;!? ") == 0


def test_case_and_punctuation_do_not_count_but_order_does():
    assert simhash("One two, THREE four!") == simhash("one two three four")
    assert simhash("one two three four") != simhash("four three two one")
    assert simhash("漢 字") == simhash("漢字")


def test_distance_grows_with_the_change():
    rng = random.Random(1)
    words = [f"w{rng.randrange(500)}" for _ in range(2000)]

    def changed(share: float) -> str:
        return " ".join(word if rng.random() > share else f"x{rng.randrange(10**6)}" for word in words)

    text = " ".join(words)
    steps = [distance(simhash(text), simhash(changed(share))) for share in (0.0, 0.005, 0.05, 0.3, 1.0)]
    assert steps == sorted(steps)
    assert steps[0] == 0
    assert steps[1] <= 4
    assert steps[-1] >= 20


def test_distance_counts_bits():
    assert distance(0, (1 << 64) - 1) == 64
    assert distance(0b1100, 0b1010) == 2
