"""What a URL and a media type tell of a page, and what records keep of that."""

import os

import numpy as np
from weighing import SITE

from evercrawl.model.worth.page_features import NAMES, features
from evercrawl.parse.sites import found_site
from evercrawl.store.partition import Partition
from evercrawl.store.records import media_kind


def test_features_tell_pages_apart():
    urls = [f"{SITE}/", f"{SITE}/a/", f"{SITE}/find?q=1", f"{SITE}/2024/x.pdf", f"{SITE}/x.png", f"{SITE}/feed.xml"]
    rows = features(urls, [0, 1, 2, 3, 4, 255])
    assert np.isfinite(rows).all()
    for name, row in (("front", 0), ("folder", 1), ("query", 2), ("dynamic", 2), ("dated", 3), ("document", 3),
                      ("media", 4), ("data", 5)):  # fmt: skip
        assert rows[:, NAMES.index(name)].nonzero()[0].tolist() == [row]
    assert features([], []).shape == (0, len(NAMES))


def kinds_of(state, *urls: str):
    cells = state.table.record[state.find(list(urls))]
    return [int(flags) >> media_kind.SHIFT & 7 for flags in state.records.rows["flags"][cells]]


def test_the_media_type_tells_the_kind_where_a_page_was_read():
    urls = [f"{SITE}/paper", f"{SITE}/File:tea.jpg", f"{SITE}/c.csv", f"{SITE}/x.pdf"]
    rows = features(urls, [1] * 4, [media_kind.DOCUMENT, media_kind.PAGE, media_kind.MEDIA, media_kind.UNKNOWN])
    assert rows[:, -3:].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]


def test_records_keep_the_kind_and_the_journal_tells_it_again(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/paper", "/moved", "/list"))
    made.visit(f"{SITE}/paper", b"%PDF-1.7", content_type="Application/PDF; version=1", etag='"1"')
    made.visit(f"{SITE}/list", b"a,b", content_type="text/csv")
    made.visit(f"{SITE}/moved", b"moved", 301, location="/paper")
    urls = [f"{SITE}{path}" for path in ("/", "/paper", "/list", "/moved")]
    assert kinds_of(made.state, *urls) == [1, 2, 3, 0]
    made.visit(f"{SITE}/paper", b"", 304, etag='"1"')
    made.visit(f"{SITE}/list", b"", 0, error="timeout")
    assert kinds_of(made.state, *urls) == [1, 2, 3, 0]
    made.visit(f"{SITE}/list", made.page("List"))
    assert kinds_of(made.state, *urls) == [1, 2, 1, 0]
    made.stop()
    for fold_all in (False, True):
        again = Partition(made.directory, os.urandom, now=made.now, writable=False, fold_all=fold_all, site=found_site)
        assert kinds_of(again.state, *urls) == [1, 2, 1, 0]
        again.close()
