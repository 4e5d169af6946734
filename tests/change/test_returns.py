"""Pages that go to and fro, against a slow account in plain Python."""

import numpy as np
import pytest

from evercrawl.change.extent import extent
from evercrawl.change.returns import Returns


def learn(pages, rows, digests, simhashes=None):
    digests = np.array(digests, np.uint64)
    return pages.learn(
        np.array(rows, np.int64), digests, digests if simhashes is None else np.array(simhashes, np.uint64)
    )


def test_it_is_as_a_list_of_states_would_have_it():
    rng = np.random.default_rng(1)
    hashes = rng.integers(1, 2**63, 6).tolist()
    pages, states, last = Returns(5, states=6), [[] for _ in range(5)], [None] * 5
    changes, returns, news = np.zeros(5), np.zeros(5), np.zeros(5)
    for _ in range(300):
        rows = rng.permutation(5)[: rng.integers(1, 6)].tolist()
        now = [hashes[i] for i in rng.integers(0, 2 + np.array(rows)).tolist()]
        found, new = learn(pages, rows, now)
        for i, (row, state) in enumerate(zip(rows, now, strict=True)):
            before = states[row]
            changed = last[row] is not None and state != last[row]
            back = changed and state in before
            want = (
                1.0 if last[row] is None else min(extent(state, of) for of in before) if changed and not back else 0.0
            )
            assert bool(found[i]) == back
            assert new[i] == pytest.approx(want)
            changes[row] += changed
            returns[row] += back
            news[row] += want if changed else 0.0
            last[row] = state
            if state not in before:
                before.append(state)
    assert pages.changes.tolist() == changes.tolist()
    assert pages.returns.tolist() == returns.tolist()
    assert pages.new == pytest.approx(news)


def test_the_oldest_state_is_forgotten_but_never_the_last():
    pages = Returns(1, states=2)
    found = [bool(learn(pages, [0], [state])[0][0]) for state in (1, 2, 1, 3, 1, 3, 2, 3)]
    assert found == [False, False, True, False, True, True, False, True]


def test_no_words_are_a_state_like_any_other():
    pages = Returns(1)
    assert [bool(learn(pages, [0], [state])[0][0]) for state in (5, 0, 5, 0)] == [False, False, True, True]
    assert pages.changes.tolist() == [3.0]


def test_what_a_change_brings():
    flip, news = Returns(1), Returns(1)
    for turn in range(40):
        learn(flip, [0], [1 + turn % 2])
        learn(news, [0], [1 + turn], [np.random.default_rng(turn).integers(1, 2**63)])
    assert flip.lasting()[0] < 0.1
    assert news.lasting()[0] > 0.6
    assert Returns(1).lasting().tolist() == [0.9]
    once = Returns(2)
    for state in (1, 2, 1):
        learn(once, [0], [state], [5])
    assert once.lasting() == pytest.approx([1.8 / 4, 0.9])
    assert learn(Returns(3), [], [])[1].shape == (0,)
