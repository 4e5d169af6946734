"""Phrases of five words, and how often they are said again."""

import numpy as np

from evercrawl.parse.phrases import MOST_BYTES, phrases, repeated, stitched


def test_the_same_words_are_the_same_phrase_on_every_page():
    one, other = phrases(b"a b c d e"), phrases(b"x A B\nC  d E y")
    assert one.tolist() == other[1:2].tolist()
    assert len(set(phrases(b"a b c d e b a c d e").tolist())) == 6  # their order counts


def test_what_is_said_twice_is_half():
    said = " ".join(f"w{i}" for i in range(500))
    assert repeated(said.encode()) == 0.0
    assert abs(repeated(f"{said} {said}".encode()) - 0.5) < 0.01


def test_a_text_of_few_words_has_no_phrase():
    assert len(phrases(b"")) == len(phrases(b"a b c d")) == 0
    assert repeated(b"a b c d") == 0.0
    assert stitched([phrases(b"a"), phrases(b"")]).tolist() == [0.0, 0.0]
    assert stitched([]).tolist() == []


def test_what_half_of_the_pages_say_is_the_template():
    pages = [phrases(b"the menu of this site is long %d" % (page if page % 2 else 0)) for page in range(12)]
    assert np.all(stitched(pages) == 0.0)


def test_so_much_of_a_text_is_looked_at():
    assert len(phrases(b"a " * MOST_BYTES)) <= MOST_BYTES // 2
