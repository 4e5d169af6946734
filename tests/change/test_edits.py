"""What went and came, word by word: it leads from one text to the other, and takes bounded time."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.change import edits as module
from evercrawl.change.edits import MOST_WORDS, edits

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=60)


def applied(before, after):
    """Make one text of the other by the edits."""
    made, at = [], 0
    for edit in edits(before, after):
        made += before[at : edit.a] + after[edit.c : edit.d]
        at = edit.b
    return made + before[at:]


@given(WORDS, WORDS)
def test_edits_lead_from_one_text_to_the_other(before, after):
    assert applied(before, after) == after
    assert (edits(before, after) == []) == (before == after)


@given(WORDS, WORDS)
def test_they_do_also_where_texts_are_compared_in_pieces(before, after):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_PAIRS", 40)
        patch.setattr(module, "_PIECE_ENDS", 2)
        assert applied(before, after) == after


def test_a_few_edits_of_a_long_text_are_found_one_by_one():
    before = [str(word) for word in np.random.default_rng(1).integers(0, 30_000, MOST_WORDS)]
    after = list(before)
    for place in range(500, MOST_WORDS, 20_000):
        after[place] = "edited"
    found = edits(before, after)
    assert [edit.c for edit in found] == list(range(500, MOST_WORDS, 20_000))
    assert all(edit.words == 2 for edit in found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["a"] * MOST_WORDS, ["b", *["a"] * (MOST_WORDS - 2), "c"]),
        (["a", "b"] * (MOST_WORDS // 2), ["b", "b", "a"] * (MOST_WORDS // 3)),
        ([str(i) for i in range(MOST_WORDS)], [str(i * 7919 % MOST_WORDS) for i in range(MOST_WORDS)]),
    ],
)
def test_hostile_texts_take_bounded_time(before, after):
    began = time.process_time()
    assert applied(before, after) == after
    assert time.process_time() - began < 5.0


def test_what_is_longer_is_not_compared():
    assert edits(["a"] * MOST_WORDS + ["b"], ["a"] * MOST_WORDS + ["c"]) == []
