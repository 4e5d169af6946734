"""Near-duplicates: what counts as one, what it keeps, and that a restart knows the same."""

import random

import numpy as np
import pytest

from evercrawl.kernels import Library, address_table, pointer
from evercrawl.model.web._near_layout import BLOCKS, VALUES, WORDS
from evercrawl.parse.simhash import distance
from evercrawl.store.journal.events import HAS_LINKS, NEAR, Visit
from evercrawl.store.records.records import MEMBER
from evercrawl.store.records.records import NEAR as MARKED
from evercrawl.types import NO_SLOT, Outcome

KERNELS = Library("evercrawl.model.web._near_kernel")
SITE, MIRROR = "http://example.org", "http://mirror.example"


def text(number: int, words: int = 900) -> str:
    draw = random.Random(number)
    return " ".join(f"word{draw.randrange(5000)}" for _ in range(words))


def page(body: str, *links: str, title: str = "Title") -> bytes:
    anchors = "".join(f"<a href='{link}'></a>" for link in links)
    return f"<html><title>{title}</title><p>{body}</p>{anchors}</html>".encode()


def slot(made, url: str) -> int:
    return int(made.state.find([url])[0])


def record(made, url: str):
    return made.state.records.rows[made.state.record_of(slot(made, url))]


def last(made) -> Visit:
    return [event for _, _, event in made.partition.journal.replay()][-1]


def near(made) -> str:
    """Return the URL of the page that the last visit's is nearly the same as; "" for none."""
    event = last(made)
    assert bool(event.flags & NEAR) == (event.near != NO_SLOT)
    assert bool(record(made, made.state.urls.get(event.slot))["flags"] & MARKED) == bool(event.flags & NEAR)
    return made.state.urls.get(event.near) if event.near != NO_SLOT else ""


def begin(made):
    made.seed(f"{SITE}/", f"{MIRROR}/")
    paths = [f"{SITE}/{name}" for name in ("a", "b", "c", "a?sid=1", "a?sid=2", "a;s=3")]
    made.visit(f"{SITE}/", page("welcome", *paths, f"{MIRROR}/a", f"{MIRROR}/b"))


@pytest.fixture
def begun(made):
    begin(made)
    return made


def test_the_same_words_under_another_address_of_the_host(begun):
    begun.visit(f"{SITE}/a", page(text(1), "/x?sid=1"))
    assert near(begun) == ""
    begun.visit(f"{SITE}/b", page(text(1), "/x?sid=2"))
    assert near(begun) == f"{SITE}/a"
    assert last(begun).alias == NO_SLOT
    assert last(begun).targets  # its links count
    assert not record(begun, f"{SITE}/b")["flags"] & MEMBER
    assert record(begun, f"{SITE}/a")["flags"] & MEMBER


def test_the_same_words_under_another_title_are_another_page(begun):
    begun.visit(f"{SITE}/a", page("next previous", title="Sunset"))
    begun.visit(f"{SITE}/b", page("next previous", title="Harbour"))
    assert near(begun) == ""


def test_nearly_the_same_on_another_host(begun):
    begun.visit(f"{SITE}/a", page(text(1)))
    begun.visit(f"{MIRROR}/a", page(text(1) + " a mirror by friends"))
    assert near(begun) == f"{SITE}/a"
    begun.visit(f"{MIRROR}/b", page(text(1) + " a mirror by friends", title="Other"))
    assert near(begun) == ""


def test_nearly_the_same_on_one_host_only_where_the_query_alone_tells_them_apart(begun):
    begun.visit(f"{SITE}/a", page(text(1) + " at 12:01"))
    begun.visit(f"{SITE}/b", page(text(1) + " at 12:02"))
    assert near(begun) == ""  # a template filled anew looks just like that
    begun.visit(f"{SITE}/a?sid=1", page(text(1) + " at 12:03"))
    assert near(begun) == f"{SITE}/a"
    begun.visit(f"{SITE}/a;s=3", page(text(1) + " at 12:04"))
    assert near(begun) == f"{SITE}/a"


def test_another_text_in_the_same_template_is_another_page(begun):
    begun.visit(f"{SITE}/a?sid=1", page(text(1) + text(2, 90)))
    begun.visit(f"{SITE}/a?sid=2", page(text(1) + text(3, 90)))
    rows = [record(begun, f"{SITE}/a?sid={i}") for i in (1, 2)]
    assert distance(int(rows[0]["simhash"]), int(rows[1]["simhash"])) > 3
    assert near(begun) == ""


def test_a_page_that_was_an_original_stays_one(begun):
    begun.visit(f"{SITE}/a", page(text(1)))
    begun.visit(f"{MIRROR}/a", page(text(2)))
    begun.visit(f"{SITE}/a", page(text(2) + " more"))
    assert near(begun) == ""
    begun.visit(f"{MIRROR}/a", page(text(2) + " other"))
    assert near(begun) == f"{SITE}/a"


def test_a_seed_is_nobodys_near_duplicate(begun):
    begun.visit(f"{SITE}/a", page(text(1)))
    begun.visit(f"{MIRROR}/", page(text(1) + " "))
    assert near(begun) == ""


def test_it_stays_one_while_nothing_changes_and_no_longer_than_the_original(begun):
    begun.visit(f"{SITE}/a", page(text(1)))
    begun.visit(f"{SITE}/b", page(text(1), "/b"), etag='"1"')
    begun.visit(f"{SITE}/b", status=304)
    assert near(begun) == f"{SITE}/a"
    begun.visit(f"{SITE}/b", status=503)
    assert record(begun, f"{SITE}/b")["flags"] & MARKED
    begun.visit(f"{SITE}/a", page(text(9)))
    begun.visit(f"{SITE}/b", status=304)
    assert near(begun) == ""
    assert last(begun).flags & HAS_LINKS
    assert record(begun, f"{SITE}/b")["flags"] & MEMBER
    begun.visit(f"{SITE}/c", page(text(1), "/c"))
    assert near(begun) == f"{SITE}/b"


@pytest.mark.parametrize("restarts", [7, 40])
def test_a_restart_finds_what_the_crawl_would_have_found(begun, tmp_path, restarts):
    other = type(begun)(tmp_path / "other")
    begin(other)
    for number, visit in enumerate(visits()):
        begun.visit(*visit)
        other.visit(*visit)
        if number % restarts == restarts - 1:
            other.restart()
    found = [[event.near for _, _, event in each.partition.journal.replay() if isinstance(event, Visit)]
             for each in (begun, other)]  # fmt: skip
    other.partition.close()
    assert found[0] == found[1]
    assert len(set(found[0])) >= 3


def visits():
    """Return 120 visits of seven pages with four texts, some of which change a little, and some of which are gone."""
    draw = random.Random(5)
    urls = [f"{SITE}/{name}" for name in ("a", "b", "c", "a?sid=1", "a?sid=2", "a;s=3")] + [f"{MIRROR}/a"]
    for _ in range(120):
        body, status = (
            (page(text(draw.randrange(4)) + " end" * draw.randrange(2)), 200) if draw.randrange(8) else (b"", 404)
        )
        yield draw.choice(urls), body, status


def test_the_index_finds_what_comparing_all_finds(begun):
    """Hashes a few bits apart, against every other one by one; of each up to as many as fit."""
    draw, rows, n = np.random.default_rng(2), begun.state.records.rows, 400
    first = begun.state.records.count
    begun.state.records.resize(first + n)
    part = rows[first : first + n]
    part["simhash"] = draw.integers(1, 1 << 62, n, np.uint64)
    part["simhash"][200:] = part["simhash"][:200] ^ (np.uint64(1) << draw.integers(0, 64, 200, np.uint64))
    part["digest"], part["alias"], part["outcome"], part["size_bytes"] = 1, NO_SLOT, 1, 1000
    part["words"], part["slot"] = np.arange(n), np.arange(n)
    nodes, heads, out = (
        np.zeros((first + n, WORDS), np.uint64),
        np.zeros(BLOCKS * VALUES, np.uint32),
        np.zeros(5, np.int64),
    )
    index, order = (address_table(nodes, heads, rows), len(nodes)), np.arange(first, first + n)
    KERNELS["fill"](*index, pointer(order), n)
    hashes = part["simhash"].tolist()
    for i, mine in enumerate(hashes):
        asked = first + i, mine, 1 << 31, 1000, 1 << 30, 1, 3, pointer(out), 4
        found = KERNELS["like"](*index, *asked)
        expected = [first + j for j in range(i) if distance(hashes[j], mine) <= 3]
        assert sorted(out[:found].tolist()) == expected
        assert i < 200 or first + i - 200 in expected


def test_a_few_words_on_two_sites_are_no_copies(begun):
    """Stubs and notices are said everywhere; what is said at length is not."""
    begun.visit(f"{SITE}/a", page("nothing here"))
    begun.visit(f"{MIRROR}/a", page("nothing here"))
    assert (record(begun, f"{MIRROR}/a")["outcome"], near(begun)) == (Outcome.OK, "")
    begun.visit(f"{SITE}/b", page("nothing here"))
    begun.visit(f"{SITE}/c", page("nothing here"))
    assert Outcome.DUPLICATE in (record(begun, f"{SITE}/b")["outcome"], record(begun, f"{SITE}/c")["outcome"])
    begun.visit(f"{SITE}/a", page(text(2)))
    begun.visit(f"{MIRROR}/a", page(text(2)))
    assert record(begun, f"{MIRROR}/a")["outcome"] == Outcome.DUPLICATE
