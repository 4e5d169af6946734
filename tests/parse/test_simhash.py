"""The similarity hash: the compiled one is the readable one, it measures likeness, and it is a secret."""

import random

from hypothesis import example, given
from hypothesis import strategies as st

from evercrawl.arrays.hasher import Hasher
from evercrawl.parse.simhash import distance, reference, simhash, simhash_bytes
from tests.helpers.hashing import HASHER

WORDS = st.sampled_from(
    ["the", "Quick", "fox", "über", "漢字", "かな", "한글", "\U0001f600", "3.14", "\ud800", "…", "--"]
)

simhash("", HASHER)  # compiled here, before any deadline runs
BEFORE = Hasher(b"")


@given(st.lists(WORDS).map(" ".join) | st.text(), st.sampled_from([HASHER, BEFORE]))
@example("", HASHER)
@example("漢", HASHER)
@example("a漢b", BEFORE)
@example("eightabc sixteenabcdefgh nineabcde", HASHER)
def test_compiled_is_reference(text, hasher):
    assert simhash(text, hasher) == reference(text, hasher)


@given(st.binary(max_size=200))
def test_any_bytes_will_do(data):
    assert 0 <= simhash_bytes(data, HASHER) < 1 << 64


def test_no_words_no_hash():
    assert simhash("", HASHER) == simhash(" .,;!? ", HASHER) == 0


def test_case_and_punctuation_do_not_count_but_order_does():
    assert simhash("One two, THREE four!", HASHER) == simhash("one two three four", HASHER)
    assert simhash("one two three four", HASHER) != simhash("four three two one", HASHER)
    assert simhash("漢 字", HASHER) == simhash("漢字", HASHER)


def test_distance_grows_with_the_change():
    rng = random.Random(1)
    words = [f"w{rng.randrange(500)}" for _ in range(2000)]

    def changed(share: float) -> str:
        return " ".join(word if rng.random() > share else f"x{rng.randrange(10**6)}" for word in words)

    text = " ".join(words)
    steps = [distance(simhash(text, HASHER), simhash(changed(share), HASHER)) for share in (0.0, 0.005, 0.05, 0.3, 1.0)]
    assert steps == sorted(steps)
    assert steps[0] == 0
    assert steps[1] <= 4
    assert steps[-1] >= 20


def test_nobody_without_the_secret_can_tell_the_hash_of_a_text():
    draw = random.Random(1)
    text = " ".join(f"w{draw.randrange(500)}" for _ in range(500))
    there = [simhash(text, Hasher(draw.randbytes(16))) for _ in range(200)]
    apart = [distance(one, simhash(text, HASHER)) for one in there]
    assert min(apart) > 10
    assert abs(sum(apart) / len(apart) - 32) < 2


def test_distance_counts_bits():
    assert distance(0, (1 << 64) - 1) == 64
    assert distance(0b1100, 0b1010) == 2
