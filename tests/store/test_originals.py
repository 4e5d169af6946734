"""The page that first had a content, as remembered during a crawl and after a restart."""

import numpy as np

from evercrawl.store import originals
from evercrawl.store.originals import Originals
from evercrawl.store.records.records import RECORD
from evercrawl.types import NO_SLOT, Outcome


def test_earlier_contents_take_no_memory():
    found = Originals()
    found.note(1, 7)
    for digest in range(2, 5000):
        found.forget(digest - 1, 7)
        found.note(digest, 7)
    assert len(found.reserved()[0][: found.reserved()[1]]) == 1, "a page has one content"
    assert (found.find(4999), found.find(4998)) == (7, NO_SLOT)


def test_another_page_s_content_is_not_forgotten():
    found = Originals()
    found.note(5, 1)
    found.forget(5, 2)
    found.forget(6, 2)
    found.forget(0, 2)
    assert found.find(5) == 1
    assert found.find(0) == NO_SLOT


def test_the_first_page_counts_whatever_the_pieces(monkeypatch):
    monkeypatch.setattr(originals, "PIECE", 3)
    rows = np.zeros(8, RECORD)
    rows["digest"], rows["slot"], rows["outcome"] = [5, 6, 5, 6, 5, 7, 0, 8], np.arange(8), Outcome.OK
    rows["outcome"][5] = Outcome.ERROR
    found = Originals()
    found.index(rows)
    assert [found.find(digest) for digest in (5, 6, 7, 8)] == [0, 1, NO_SLOT, 7]
