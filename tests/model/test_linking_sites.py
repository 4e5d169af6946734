"""How many sites link to one: near the truth, whatever links there are."""

import numpy as np
import pytest

from evercrawl.model.rules.linking_sites import LinkingSites


def counted(count: int, seed: int, *, at_once: int) -> int:
    linking, sources = LinkingSites(), np.random.default_rng(seed).choice(10_000_000, count, replace=False) + 10
    for first in range(0, count, at_once):
        piece = sources[first : first + at_once]
        linking.note_many(piece, np.full(len(piece), 5))
    return linking.count(5)


@pytest.mark.parametrize(
    ("count", "within"), [(1, 0.01), (3, 0.05), (10, 0.1), (100, 0.15), (2000, 0.15), (60_000, 0.1)]
)
def test_estimates_are_near_the_truth(count, within):
    found = np.array([counted(count, seed, at_once=50) for seed in range(20)])
    assert abs(found.mean() / count - 1) < within
    assert (abs(found / count - 1) < max(4 * within, 0.4)).all()


def test_who_links_often_counts_once():
    linking = LinkingSites()
    for _ in range(100):
        linking.note(1, [2, 3])
        linking.note_many(np.array([1, 4]), np.array([2, 2]))
    assert (linking.count(2), linking.count(3)) == (2, 1)


def test_a_site_does_not_link_to_itself():
    linking = LinkingSites()
    linking.note(7, [7, 8])
    linking.note_many(np.array([7]), np.array([7]))
    assert (linking.count(7), linking.count(8)) == (0, 1)


def test_one_by_one_and_together_are_the_same():
    single, many = LinkingSites(), LinkingSites()
    sources, targets = np.random.default_rng(1).integers(0, 300, (2, 20_000))
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        single.note(source, [target])
    for piece in np.array_split(np.arange(20_000), 20_000 // 50):
        many.note_many(sources[piece], targets[piece])
    assert [single.count(i) for i in range(300)] == pytest.approx([many.count(i) for i in range(300)], rel=0.1)
    assert all(single.knows(i, j) == many.knows(i, j) for i in range(300) for j in range(0, 300, 50))


def test_a_million_sites_take_eight_bytes_each():
    linking = LinkingSites()
    rng = np.random.default_rng(2)
    linking.note_many(rng.integers(0, 1_000_000, 3_000_000), rng.integers(0, 1_000_000, 3_000_000))
    assert linking.nbytes(1_000_000) == 8_000_000
