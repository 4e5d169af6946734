"""How much of what changes bring stays, by six bytes a page, against the words themselves."""

import random
from itertools import pairwise

import numpy as np
import pytest
from closed_forms import lasting_of

from evercrawl.change.extent import replaced
from evercrawl.change.longevity import lasting
from evercrawl.change.shingles import shingles, word_keys
from evercrawl.parse.simhash import simhash
from evercrawl.store.records.lasting import FIRST_CHANGES, MOST, ONE, START, judged, learn, part
from tests.helpers.hashing import HASHER

PAGES, STATES, WORDS = 12, 16, 240


def words(draw, count):
    return [f"w{draw.randrange(10**9)}" for _ in range(count)]


def states(kind, draw):
    """Return texts of one page, one visit after another, each told whether it changed."""
    body, ad, out = words(draw, WORDS), words(draw, WORDS), list[list[str]]()
    other = words(draw, WORDS)
    for turn in range(STATES):
        if kind == "grows" and turn:
            body = words(draw, WORDS // 12) + body
        if kind == "small ad":
            ad = words(draw, WORDS // 10)
        if kind == "big ad":
            ad = words(draw, WORDS)
        if kind == "replaced each time" or (kind == "replaced, stays" and turn % 2 == 0):
            body = words(draw, WORDS)
        swung = body + (other if turn % 2 else [])
        shown = {"small ad": body + ad[: WORDS // 10], "big ad": body + ad, "to and fro": swung}
        out.append(shown.get(kind, body))
    return [" ".join(text) for text in out]


def fold(texts):
    kept, hashes = (START, 0), [simhash(text, HASHER) for text in texts]
    for before, now in pairwise(hashes):
        kept = learn(*kept, before, now, changed=before != now)
    return kept[0]


def exactly(texts):
    runs = [shingles(word_keys(text)) for text in texts]
    return np.mean([
        lasting(*three) for three in zip(runs, runs[1:], runs[2:], strict=False) if replaced(three[0], three[1])
    ])  # fmt: skip


def without_first(kept):
    """Return a mean without the changes that count before any."""
    count = judged(kept)
    mean = (kept >> 4) / ONE
    return (mean * (FIRST_CHANGES + count) - 0.9 * FIRST_CHANGES) / count


@pytest.mark.parametrize(("kind", "lasts"), [
    ("grows", None), ("small ad", 0.0), ("big ad", 0.0), ("to and fro", 0.0), ("replaced, stays", 1.0),
    ("replaced each time", 0.0),
])  # fmt: skip
def test_it_is_about_what_the_words_say(kind, lasts):
    draw = random.Random(5)
    made = [states(kind, draw) for _ in range(PAGES)]
    told = float(np.clip(np.mean([without_first(fold(texts)) for texts in made]), 0, 1))
    exact = float(np.mean([exactly(texts) for texts in made]))
    assert told == pytest.approx(exact, abs=0.06)
    assert lasts is None or exact == pytest.approx(lasts, abs=1e-9)


def test_it_says_what_the_reference_says():
    draw = random.Random(1)
    for _ in range(200):
        one, two, three = (draw.getrandbits(64) for _ in range(3))
        kept, pending = learn(START, 0, one, two, changed=True)
        kept, _ = learn(kept, pending, two, three, changed=True)
        assert (kept >> 4) / ONE == pytest.approx((1.8 + lasting_of(one, two, three, 32)) / 3, abs=2 / ONE)


def test_a_change_is_judged_once_by_the_next_visit():
    kept = learn(START, 0, 0xFF, 0xF0F0, changed=True)
    assert judged(kept[0]) == 0
    kept = learn(*kept, 0xF0F0, 0xF0F0, changed=False)
    assert (judged(kept[0]), kept[1]) == (1, 0)
    assert learn(*kept, 0xF0F0, 0xF0F0, changed=False) == kept


def test_without_words_nothing_is_judged():
    assert learn(START, 0, 0, 5, changed=True) == learn(START, 7, 5, 0, changed=True) == (START, 0)


def test_half_a_hash_of_zeros_is_a_state_all_the_same():
    assert learn(START, 0, 1 << 40, 5, changed=True)[1] == 1


def test_what_was_long_ago_fades_and_what_is_kept_fits():
    kept, most, least = START, START, START
    for turn in range(400):
        stays = turn < 200
        one, two = 0xFFFF0000, 0xFF00FF00
        kept, pending = learn(kept, 0, one, two, changed=True)
        kept, _ = learn(kept, pending, two, two if stays else one, changed=not stays)
        most, least = max(kept, most), min(kept, least)
        if turn == 199:
            assert part(np.array([kept]))[0] > 0.98
    assert judged(kept) == MOST
    assert part(np.array([kept]))[0] == 0.0
    assert least >= -(1 << 15)
    assert most < 1 << 15
