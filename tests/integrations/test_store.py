"""Requests on the disk: those that are not in the file yet are found too, and the last said of a page counts."""

import pytest

pytest.importorskip("scrapy")

from evercrawl.integrations.scrapy.store import RequestStore


def test_a_page_is_found_before_and_after_it_is_written(tmp_path):
    store = RequestStore(tmp_path)
    store.add_page("http://a/", b"one", seed=True)
    store.add_page("http://b/", b"two", seed=False)
    assert (store.page("http://a/"), store.page("http://c/")) == (b"one", None)
    last = store.last()
    store.add_page("http://a/", b"three", seed=True)
    assert store.page("http://a/") == b"three"
    store.commit()
    killed = RequestStore(tmp_path)  # what was committed is there for another process
    assert killed.page("http://a/") == b"three"
    assert [url for url, _ in killed.unsettled()[0]] == ["http://a/", "http://b/", "http://a/"]
    killed.settle(last)
    assert killed.unsettled()[0] == [("http://a/", True)]
    killed.commit()
    killed.close()
    store.close()


def test_what_is_not_committed_is_not_there_after_a_kill(tmp_path):
    store = RequestStore(tmp_path)
    store.add_page("http://a/", b"one", seed=False)
    other = RequestStore(tmp_path)
    assert other.page("http://a/") is None
    assert other.unsettled() == ([], 0)
    other.close()
    store.close()
