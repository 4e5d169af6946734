"""Which URLs are of one kind: what a program counts or puts in makes no other kind, and neither do people's names."""

import numpy as np
import pytest

from evercrawl.store.partition import Partition
from evercrawl.store.snapshots import snapshot
from evercrawl.store.table import folders
from evercrawl.store.table.folders import kind_of, mark, marks
from evercrawl.store.table.table import NO_RECORD
from tests.store.snapshots.test_snapshot import made_in, write


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/calendar/2024/05/17/", "/calendar/2031/12/01/"),
        ("/calendar/2024-05", "/calendar/1999-11"),
        ("/events?month=5&year=2024", "/events?year=2025&month=6"),
        ("/show/3fa9bc1d00ff/", "/show/00aa11bb22cc33/"),
        ("/guide/ants.html", "/guide/bees.html"),
        ("/news/2024/ants", "/news/1998/bees"),
        ("/forum/thread-12.html", "/forum/thread-9999.html"),
    ],
)
def test_these_are_of_one_kind(one, other):
    assert kind_of(f"http://a.example{one}") == kind_of(f"http://a.example{other}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/guide/ants.html", "/guide/day-7.html"),
        ("/guide/day-7.html", "/guide/week-7.html"),
        ("/list?page=3", "/list?id=3"),
        ("/list", "/list?id=3"),
        ("/a/1", "/b/1"),
        ("/a/ants", "/a/b/ants"),
    ],
)
def test_these_are_not(one, other):
    assert kind_of(f"http://a.example{one}") != kind_of(f"http://a.example{other}")


def test_hosts_have_kinds_of_their_own_and_every_address_has_one():
    assert kind_of("http://a.example/7") != kind_of("http://b.example/7")
    for path in ("/", "/?", "/a//", "/%7E/?&&=", "/?a=/b/c/7"):
        assert 1 <= mark("http://a.example" + path) < folders.MARKS


def test_what_an_older_version_noted_is_noted_anew(tmp_path, monkeypatch):
    made = next(opened := made_in(tmp_path))
    table = made.state.table
    before = table.record[: made.state.known.count].copy()
    other = np.uint32(5) << np.uint32(folders.IN_CELL)
    unread = before >= NO_RECORD
    table.record[: len(before)][unread] = before[unread] & np.uint32(0x81FF_FFFF) | other
    monkeypatch.setattr(snapshot, "MARKED_BY", 0)
    write(made)
    next(opened, None)  # closes it
    again = Partition(tmp_path, bytes, now=1.7e9)
    assert again.state.table.record[: len(before)].tolist() == before.tolist()
    assert set(marks(before[unread]).tolist()) == {mark("http://a.example/7")}
    again.close()
