"""A crawl that was begun without a secret is given one: nothing is lost, and nothing counts as changed for that."""

import os

import msgspec
import pytest
from hand_made import BEGAN_AT, SITE, HandMade

from evercrawl.ask.verify.verify import verify
from evercrawl.errors import StoreError
from evercrawl.store.birth import COPY, FILE
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.events import CHANGED, HAS_LINKS, KEEP, UNCHANGED, Visit
from evercrawl.store.rekeying import give_secret
from evercrawl.types import NO_SLOT, Outcome

SAME, OTHER = (HandMade.page(name, "/", text=f"{name} words " * 200) for name in ("same", "other"))


@pytest.fixture
def old(tmp_path):
    """A crawl of format 1 with two pages and a copy, ended in order."""
    directory = tmp_path / "crawl"
    directory.mkdir()
    (directory / FILE).write_bytes(msgspec.json.encode({"format": 1, "id": "0a0b0c0d", "made_at": BEGAN_AT}))
    made = HandMade(directory)
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/copy"))
    made.visit(f"{SITE}/a", SAME, etag='"1"')
    made.visit(f"{SITE}/b", OTHER)
    made.visit(f"{SITE}/copy", SAME)
    assert not made.partition.hasher.secret
    assert not any(event.digest_rest for _, _, event in made.partition.journal.replay() if isinstance(event, Visit))
    made.stop()
    return directory


def rekeyed(directory):
    assert give_secret(RealDisk(directory), os.urandom)
    again = HandMade(directory)
    again.now = BEGAN_AT + 1000
    for host in set(again.state.hosts):
        again.scope.add_root(host)
    return again


def last(made):
    return [event for _, _, event in made.partition.journal.replay()][-1]


def row(made, path):
    return made.state.records.rows[made.state.record_of(made.state.find_one(SITE + path))]


def test_keys_are_others_and_all_is_known(old):
    made = rekeyed(old)
    urls = made.state.urls.get_many(range(made.state.known.count))
    assert len(urls) == 4
    assert made.state.find(urls).tolist() == list(range(4))
    assert made.state.known.rows()["key"].tolist() == made.partition.hasher.keys(urls).tolist()
    assert not made.partition.repairs
    made.stop()
    assert not verify(old).wrong
    again = HandMade(old)
    assert again.state.find(urls).tolist() == list(range(4))
    again.partition.close()


@pytest.mark.parametrize("first", [{"status": 304}, {"status": 500}, {}])
def test_what_stayed_the_same_is_no_change_and_has_a_digest_under_the_secret_then(old, first):
    made = rekeyed(old)
    if first:
        made.visit(f"{SITE}/a", **first)
        assert not last(made).digest_rest
    before = int(row(made, "/a")["digest"])
    made.visit(f"{SITE}/a", SAME, etag='"1"')
    event = last(made)
    assert event.flags & (CHANGED | UNCHANGED | KEEP | HAS_LINKS) == UNCHANGED | HAS_LINKS
    assert (event.digest, event.digest_rest) == made.partition.hasher.digest(SAME)
    assert (event.outcome, event.changes) == (Outcome.OK, 0)
    assert int(row(made, "/a")["digest"]) == event.digest != before
    assert int(row(made, "/a")["simhash"]) == event.simhash
    made.visit(f"{SITE}/a", SAME, etag='"1"')
    assert last(made).flags & (CHANGED | UNCHANGED | KEEP) == UNCHANGED | KEEP
    made.visit(f"{SITE}/copy", SAME)
    assert (last(made).outcome, last(made).alias) == (Outcome.DUPLICATE, made.state.find_one(f"{SITE}/a"))
    made.stop()
    assert not verify(old).wrong


def test_what_changed_is_a_change(old):
    made = rekeyed(old)
    made.visit(f"{SITE}/b", SAME + b"<p>more")
    assert last(made).flags & (CHANGED | UNCHANGED) == CHANGED
    assert last(made).alias == NO_SLOT
    made.partition.close()


def test_who_has_a_secret_keeps_it(filled):
    before = (filled.directory / FILE).read_bytes()
    assert not give_secret(RealDisk(filled.directory), os.urandom)
    assert (filled.directory / FILE).read_bytes() == before
    for name in (FILE, COPY):
        (filled.directory / name).write_text("{")
    with pytest.raises(StoreError, match=r"crawl.json is damaged; restore it with: evercrawl verify --repair"):
        give_secret(RealDisk(filled.directory), os.urandom)
