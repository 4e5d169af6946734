"""Runs of words, held against Python's own sets; sketches against the texts they are of."""

import closed_forms
import numpy as np
import pytest
from closed_forms import extent, replaced_by_resemblance

from evercrawl.change import shingles as sh
from evercrawl.change.extent import extents, replaced
from evercrawl.parse.simhash import simhash
from tests.helpers.hashing import HASHER


def text(count, seed):
    return [f"w{i}" for i in np.random.default_rng(seed).integers(0, 10**6, count).tolist()]


def runs(words, run=sh.RUN):
    return sh.shingles(sh.word_keys(" ".join(words)), run)


@pytest.mark.parametrize("run", [1, 2, 4])
def test_they_are_the_runs_there_are(run):
    one = text(60, 1) * 2
    other = [*one[:40], *text(30, 2)]
    sets = [{tuple(words[i : i + run]) for i in range(len(words) - run + 1)} for words in (one, other)]
    keys = [runs(words, run) for words in (one, other)]
    assert [len(of) for of in keys] == [len(of) for of in sets]
    shared, together = len(sets[0] & sets[1]), len(sets[0] | sets[1])
    assert closed_forms.resemblance(*keys) == pytest.approx(shared / together)
    assert replaced(*keys) == pytest.approx(1 - shared / len(sets[1]))


def test_case_and_space_are_nothing_and_order_is_something():
    assert (
        sh.shingles(sh.word_keys(" The  Quick\nbrown\tfox jumps\n")).tolist()
        == sh.shingles(sh.word_keys("the quick BROWN fox jumps")).tolist()
    )
    words = text(30, 3)
    assert closed_forms.resemblance(runs(words), runs(words[::-1])) == 0.0


def test_few_words_or_none():
    assert len(runs(["one", "two"])) == 1
    none = runs([])
    assert len(none) == 0
    assert closed_forms.resemblance(none, none) == closed_forms.resemblance_of_sketches(none, none) == 1.0
    assert (replaced(none, none), replaced(runs(["a"]), none), replaced(none, runs(["a"]))) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_sketch_knows_about_what_the_text_does(share):
    off = []
    for seed in range(30):
        before, other = text(1500, seed), text(1500, seed + 1000)
        new = int(share * 1500)
        keys = runs(before), runs(other[:new] + before[new:])
        told = closed_forms.resemblance_of_sketches(*(closed_forms.sketch(of) for of in keys))
        off.append(told - closed_forms.resemblance(*keys))
        assert replaced_by_resemblance(closed_forms.resemblance(*keys)) == pytest.approx(replaced(*keys), abs=0.01)
        assert replaced(*keys) == pytest.approx(share, abs=0.01)
    assert np.sqrt(np.mean(np.square(off))) < 0.05
    assert abs(np.mean(off)) < 0.03


def test_many_simhashes_at_once_are_as_many_one_by_one():
    rng = np.random.default_rng(4)
    one, other = rng.integers(0, 2**63, (2, 200)).astype(np.uint64)
    other[:50] = one[:50] ^ np.uint64(5)
    one[::9], other[::7] = 0, 0
    want = [extent(a, b) for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    assert extents(one, other) == pytest.approx(want)


def test_both_ways_to_tell_how_much_is_new_agree():
    off = []
    for seed in range(40):
        before, other = text(800, seed), text(800, seed + 1000)
        after = other[:300] + before[300:]
        off.append(
            extent(simhash(" ".join(after), HASHER), simhash(" ".join(before), HASHER))
            - replaced(runs(before), runs(after))
        )
    assert abs(np.mean(off)) < 0.08
