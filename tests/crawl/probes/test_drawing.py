"""What is drawn by lot: copies only, each as often as it should be."""

from collections import Counter
from random import Random

import numpy as np
import pytest

from evercrawl.crawl.probes import drawing
from evercrawl.crawl.probes.drawing import Drawing
from evercrawl.store.journal.events import Lost
from evercrawl.types import NO_SLOT

SITE = "http://example.org"


def copies(made):
    """Return the pages of `fill` of which a copy is held: not the redirects, the one that is gone, trouble."""
    urls = [f"{SITE}/{path}" for path in ("", "a", "copy", "cut", "picture")]
    return set(made.state.find(urls).tolist()) - {NO_SLOT}


def test_every_copy_is_drawn_as_often_as_any_other_and_nothing_else(made):
    made.fill()
    draws = Drawing(made.state, made.columns, Random(1))
    times = Counter(draws.any_copy() for _ in range(1000))
    assert set(times) == copies(made)
    assert all(count == pytest.approx(200, abs=8) for count in times.values())


def test_where_it_begins_is_left_to_chance(made):
    made.fill()
    assert {Drawing(made.state, made.columns, Random(seed)).any_copy() for seed in range(100)} == copies(made)


def test_draws_one_after_the_other_lie_apart(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *(f"/{i}" for i in range(54))))
    for i in range(54):
        made.visit(f"{SITE}/{i}", made.page(f"page {i}", text=f"words {i}"))
    draws = Drawing(made.state, made.columns, Random(1))
    slots = [draws.any_copy() for _ in range(55)]
    assert len(set(slots)) >= 45
    for first in range(0, 50, 5):  # of five in a row there is one in each half, and more
        assert len({slot // 14 for slot in slots[first : first + 5]}) >= 3


@pytest.mark.parametrize("piece", [4096, 3])
def test_by_importance_it_is_in_proportion(made, monkeypatch, piece):
    monkeypatch.setattr(drawing, "PIECE", piece)  # several of them in a small crawl
    made.fill()
    draws = Drawing(made.state, made.columns, Random(1))
    times = Counter(draws.important_copy() for _ in range(1000))
    rows = made.state.records.rows[: made.state.records.count]
    own = {int(row["slot"]) for row in rows if row["alias"] == NO_SLOT} & copies(made)
    slots = np.array(sorted(own), np.uint32)
    importance = made.columns(slots).importance
    assert set(times) == own
    assert len(own) < len(copies(made))  # one is a copy of another page
    assert importance.max() > 1.5 * importance.min()
    for slot, part in zip(slots.tolist(), importance / importance.sum(), strict=True):
        assert times[slot] == pytest.approx(1000 * part, abs=15)


def test_in_a_crawl_that_grows_pages_are_drawn_once_they_are_there(made, monkeypatch):
    monkeypatch.setattr(drawing, "PIECE", 2)
    made.seed(f"{SITE}/")
    draws = Drawing(made.state, made.columns, Random(1))
    assert draws.any_copy() is None
    assert draws.important_copy() is None
    made.visit(f"{SITE}/", made.page("Home", *(f"/{i}" for i in range(9))))
    assert draws.important_copy() == 0
    for i in range(9):
        made.visit(f"{SITE}/{i}", made.page(f"page {i}", text=f"words {i}"))
        assert i + 1 in {draws.any_copy() for _ in range(40)}
        assert i + 1 in {draws.important_copy() for _ in range(20 * (i + 2))}


def test_what_a_broken_disk_lost_is_no_copy(made):
    made.fill()
    lost = max(copies(made))
    made.partition.remember(Lost(lost, 0, made.now, (0, 0, 1), "gone"))
    draws = Drawing(made.state, made.columns, Random(1))
    assert lost not in {draws.any_copy() for _ in range(200)} | {draws.important_copy() for _ in range(200)}


def test_where_nothing_is_held_nothing_is_drawn(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", b"no", 404)
    draws = Drawing(made.state, made.columns, Random(1))
    assert (draws.any_copy(), draws.important_copy()) == (None, None)
