"""From readings to memory, archive and queues, one visit after the other."""

import pytest

from evercrawl.crawl.learn.queueing import Queueing
from evercrawl.crawl.telling import ProgressTally
from evercrawl.model.rules.budgets import Budgets
from evercrawl.model.stored.reading import no_page
from evercrawl.model.web.near import NearDuplicates
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import CHANGED, HAS_LINKS, KEEP, MEMBER, NEAR, UNCHANGED, Found, Visit
from evercrawl.types import NO_SLOT, Outcome
from tests.helpers.readings import read

SITE = "http://example.org"
CONTENT = CHANGED | UNCHANGED | HAS_LINKS | KEEP  # flags that speak of content, not of cash or dates
ONE, TWO = b"<title>One</title><a href=/x>x</a>", b"<title>Two</title><a href=/y>y</a>"


def events(made):
    return [event for _, _, event in made.partition.journal.replay()]


def last(made) -> Visit:
    return events(made)[-1]


def slot(made, path: str) -> int:
    return int(made.state.find([SITE + path])[0])


def record(made, path: str):
    return made.state.records.rows[made.state.record_of(slot(made, path))]


def label(made, path: str) -> str:
    return Outcome(int(record(made, path)["outcome"])).label


@pytest.fixture
def begun(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *(f"/{name}" for name in "abcdefgh")))
    return made


# Discovery


def test_seeds_are_known_once_and_at_depth_nought(made):
    made.seed(f"{SITE}/", f"{SITE}/a", f"{SITE}/")
    made.seed(f"{SITE}/a", "http://b.example/")
    found = events(made)
    assert [type(event) for event in found] == [Found, Found]
    assert [event.found.urls for event in found] == [[f"{SITE}/", f"{SITE}/a"], ["http://b.example/"]]
    assert [event.found.first_slot for event in found] == [0, 2]
    assert found[1].found.new_hosts == ["b.example"]
    assert (found[1].found.first_host, found[1].found.hosts, found[1].found.source) == (1, [1], NO_SLOT)


def test_links_are_known_in_order_with_depth_and_source(begun):
    new = last(begun).found
    assert new.urls == [f"{SITE}/{name}" for name in "abcdefgh"]
    assert (new.first_slot, new.source, new.depth, new.hops) == (1, 0, 1, 0)
    assert decode_slots(last(begun).targets).tolist() == list(range(1, 9))
    begun.visit(f"{SITE}/b", begun.page("B", "/a", "/new", "/"))
    assert (last(begun).found.urls, last(begun).found.depth, last(begun).found.source) == ([f"{SITE}/new"], 2, 2)
    assert decode_slots(last(begun).targets).tolist() == [0, 1, 9]


def test_links_out_of_scope_are_not_known(begun):
    begun.visit(f"{SITE}/a", begun.page("A", "http://other.example/", "/b"))
    assert last(begun).found is None
    assert decode_slots(last(begun).targets).tolist() == [2]
    assert "other.example" not in begun.state.hosts


def test_a_link_found_by_two_pages_of_a_batch_is_the_first_s(begun):
    from evercrawl.crawl.visit.recall import recall
    from evercrawl.types import Exchange, Request

    batch = []
    for path in ("/a", "/b"):
        body = begun.page(path, "/shared", f"{path}/own")
        exchange = Exchange(Request(SITE + path), begun.now, 0.1, 200, b"GET", b"HTTP/1.1 200 OK\r\n\r\n", body, body,
                            {"content-type": "text/html"})  # fmt: skip
        number = slot(begun, path)
        batch.append(
            read(
                exchange,
                begun.frontier.hosts[0],
                number,
                recall(begun.partition, number),
                hasher=begun.partition.hasher,
            )
        )
    begun.learner.learn(batch)
    first, second = events(begun)[-2:]
    assert (first.found.urls, second.found.urls) == ([f"{SITE}/shared", f"{SITE}/a/own"], [f"{SITE}/b/own"])
    shared = slot(begun, "/shared")
    assert shared in decode_slots(first.targets)
    assert shared in decode_slots(second.targets)


def test_links_of_a_page_taken_for_gone_are_nobody_s(begun):
    """Neither are those of the page learned with it, whose targets are looked up in the same call."""
    from evercrawl.crawl.probes.soft404 import page_answer
    from evercrawl.crawl.probes.soft404_book import Soft404Book
    from evercrawl.crawl.visit.recall import recall
    from evercrawl.types import Exchange, Request

    book, batch = Soft404Book(":memory:"), []
    missing = begun.page("Not here", "/help", "/map", "/contact")
    book.keep(f"{SITE}/", begun.now, (page_answer(f"{SITE}/nowhere", missing, "text/html"),) * 2)
    for path, body in (("/a", missing), ("/b", begun.page("B", "/c", "/d"))):
        exchange = Exchange(Request(SITE + path), begun.now, 0.1, 200, b"GET", b"HTTP/1.1 200 OK\r\n\r\n", body, body,
                            {"content-type": "text/html"})  # fmt: skip
        number = slot(begun, path)
        one = read(
            exchange, begun.frontier.hosts[0], number, recall(begun.partition, number), hasher=begun.partition.hasher
        )
        why = book.why_no_page(one, begun.now)
        batch.append(no_page(one, why) if why else one)
    book.close()
    begun.learner.learn(batch)
    first, second = events(begun)[-2:]
    assert (first.outcome, first.found, first.targets) == (Outcome.GONE, None, b"")
    assert decode_slots(second.targets).tolist() == [slot(begun, "/c"), slot(begun, "/d")]


# Redirects


def test_redirects_count_their_hops_and_permanent_ones_are_aliases(begun):
    begun.visit(f"{SITE}/a", status=301, location="/r1")
    assert (last(begun).outcome, last(begun).found.hops, last(begun).found.depth) == (Outcome.REDIRECT, 1, 1)
    assert last(begun).alias == slot(begun, "/r1")
    begun.visit(f"{SITE}/r1", status=302, location="/r2")
    assert (last(begun).found.hops, last(begun).alias) == (2, NO_SLOT)
    begun.visit(f"{SITE}/r2", begun.page("End", "/linked"))
    assert (last(begun).found.hops, last(begun).found.depth) == (0, 2)


def test_a_page_that_redirects_to_itself_is_no_alias(begun):
    begun.visit(f"{SITE}/a", status=301, location="/a")
    assert (last(begun).outcome, last(begun).alias) == (Outcome.REDIRECT, NO_SLOT)


def test_an_endless_chain_ends_and_does_not_go_on_at_the_next_visit(begun):
    begun.visit(f"{SITE}/a", status=302, location="/1")
    for hop in range(1, 10):
        begun.visit(f"{SITE}/{hop}", status=302, location=f"/{hop + 1}")
        assert last(begun).outcome == Outcome.REDIRECT
    for visits in (1, 2):
        known = begun.state.known.count
        begun.visit(f"{SITE}/10", status=302, location="/11")
        assert (last(begun).outcome, last(begun).visits) == (Outcome.ERROR, visits)
        assert last(begun).error == "redirect: more than 10 in a row"
        assert begun.state.known.count == known


def test_a_redirect_out_of_scope_leads_nowhere_but_a_seed_s_widens_the_scope(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", status=301, location="http://www.example.org/")
    assert made.state.hosts == ["example.org", "www.example.org"]
    made.visit("http://www.example.org/", made.page("Home", "/a", f"{SITE}/b"))
    made.visit("http://www.example.org/a", status=302, location="http://elsewhere.example/")
    assert last(made).outcome == Outcome.REDIRECT
    assert last(made).found is None
    assert made.state.hosts == ["example.org", "www.example.org"]


# Copies


def test_the_second_of_two_equal_pages_is_a_copy(begun):
    begun.visit(f"{SITE}/a", ONE)
    begun.visit(f"{SITE}/b", ONE)
    assert (label(begun, "/a"), label(begun, "/b")) == ("ok", "duplicate")
    assert last(begun).alias == slot(begun, "/a")
    begun.visit(f"{SITE}/a", ONE)
    assert label(begun, "/a") == "ok"


@pytest.mark.parametrize("status", [200, 304])
def test_a_page_is_no_copy_of_one_that_names_it_as_canonical(begun, status):
    body = b"<title>A</title><link rel=canonical href=/a><p>words"
    for name in "bca":
        begun.visit(f"{SITE}/{name}", body)
    assert (label(begun, "/a"), last(begun).alias) == ("ok", NO_SLOT)
    assert last(begun).flags & MEMBER
    begun.visit(f"{SITE}/a", body if status == 200 else b"", status)
    assert (label(begun, "/a"), last(begun).alias) == ("ok", NO_SLOT)
    begun.visit(f"{SITE}/b", body)
    state = begun.state
    assert state.records.rows["alias"][state.record_of(slot(begun, "/b"))] == slot(begun, "/a")


def test_a_copy_that_changes_is_none_any_more(begun):
    begun.visit(f"{SITE}/a", ONE)
    begun.visit(f"{SITE}/b", ONE)
    begun.visit(f"{SITE}/b", TWO)
    assert (label(begun, "/b"), last(begun).alias) == ("ok", NO_SLOT)


@pytest.mark.parametrize("again", [{"body": ONE}, {"status": 304}])
def test_a_copy_whose_original_has_changed_is_the_original(begun, again):
    begun.visit(f"{SITE}/a", ONE)
    begun.visit(f"{SITE}/b", ONE)
    begun.visit(f"{SITE}/a", TWO)
    begun.visit(f"{SITE}/b", **again)
    assert (label(begun, "/b"), last(begun).alias) == ("ok", NO_SLOT)
    begun.visit(f"{SITE}/c", ONE)
    assert (label(begun, "/c"), last(begun).alias) == ("duplicate", slot(begun, "/b"))


THIEF = "http://thief.example"
LONG_ONE, LONG_TWO = (f"<title>{name}</title><p>{name * 500}".encode() for name in ("one ", "two "))


def stolen(made, *, earlier: bool) -> None:
    """Let a page be read, change, and be read next on another site that copies it, known later than it or before."""
    home = made.page("Home", *((f"{THIEF}/x", "/a") if earlier else ("/a", f"{THIEF}/x")))
    made.scope.add_root("thief.example")
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", home)
    made.visit(f"{SITE}/a", LONG_ONE)
    if earlier:  # what matters more is believed: the page is linked to, and the thief is not
        for name in "bcd":
            made.visit(f"{SITE}/", made.page(f"Home {name}", "/a", *(f"/{name}{at}" for at in range(3))))
            made.visit(f"{SITE}/{name}0", made.page(name, "/a"))
    made.visit(f"{THIEF}/x", LONG_TWO)


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("trouble", [False, True])
def test_an_original_is_not_unseated_by_a_site_that_had_its_new_content_first(made, earlier, trouble):
    stolen(made, earlier=earlier)
    if trouble:
        made.visit(f"{SITE}/a", status=500)
    made.visit(f"{SITE}/a", LONG_TWO)
    assert (label(made, "/a"), last(made).alias) == ("ok", NO_SLOT)
    made.visit(f"{SITE}/a", LONG_TWO)
    assert (label(made, "/a"), last(made).alias) == ("ok", NO_SLOT)


def test_nor_by_one_that_says_nearly_the_same(made):
    words = " ".join(f"word{at}" for at in range(400))
    made.scope.add_root("thief.example")
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", f"{THIEF}/x"))
    made.visit(f"{SITE}/a", made.page("A", text="before " * 300))
    made.visit(f"{THIEF}/x", made.page("A", text=f"{words} thief"))
    made.visit(f"{SITE}/a", made.page("A", text=words))
    assert (last(made).near, last(made).flags & NEAR) == (NO_SLOT, 0)


THREE = b"<title>three</title><p>" + b"three " * 500


def rivals(made, *paths: str) -> None:
    """Let pages be known in this order, of which one is a thief's, that matters more."""
    made.scope.add_root("thief.example")
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *paths, "/b", "/c", "/d"))
    for name in "bcd":
        made.visit(f"{SITE}/{name}", made.page(name, f"{THIEF}/x"))


def test_nor_by_one_that_matters_more_and_copied_it_before(made):
    rivals(made, f"{THIEF}/x", "/a")
    thief = made.state.find_one(f"{THIEF}/x")
    made.visit(f"{SITE}/a", LONG_ONE)
    made.visit(f"{THIEF}/x", LONG_ONE)
    assert last(made).alias == slot(made, "/a")
    for body in (LONG_TWO, THREE):
        made.visit(f"{THIEF}/x", body)
        made.visit(f"{SITE}/a", body)
        importance = made.state.records.rows["importance"]
        assert thief < slot(made, "/a")
        assert importance[made.state.record_of(thief)] > record(made, "/a")["importance"]
        assert (label(made, "/a"), last(made).alias) == ("ok", NO_SLOT)


def test_but_by_one_that_it_copied_before(made):
    """A page known earlier repeats what the other says, each time a little later; in between it says what that said."""
    rivals(made, "/a", f"{THIEF}/x")
    original = made.state.find_one(f"{THIEF}/x")
    assert slot(made, "/a") < original
    for was, body in ((LONG_ONE, LONG_TWO), (LONG_TWO, THREE)):
        made.visit(f"{THIEF}/x", was)
        made.visit(f"{SITE}/a", was)
        assert (label(made, "/a"), last(made).alias) == ("duplicate", original)
        made.visit(f"{THIEF}/x", body)
        made.visit(f"{SITE}/a", was)
        assert (label(made, "/a"), last(made).alias) == ("ok", NO_SLOT)


def test_a_page_without_a_history_of_its_own_is_a_copy_of_who_was_read_first(made):
    made.scope.add_root("thief.example")
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", f"{THIEF}/x"))
    made.visit(f"{THIEF}/x", LONG_ONE)
    made.visit(f"{SITE}/a", LONG_ONE)
    assert last(made).alias == made.state.find([f"{THIEF}/x"])[0]


@pytest.mark.parametrize("again", [{"body": ONE}, {"status": 304}])
def test_of_two_equal_pages_one_is_a_copy_also_after_trouble(begun, again):
    begun.visit(f"{SITE}/a", ONE)
    begun.visit(f"{SITE}/b", ONE)
    for path in ("/a", "/b"):
        begun.visit(SITE + path, status=500)
    for path in ("/b", "/a"):
        begun.visit(SITE + path, **again)
    assert (label(begun, "/b"), label(begun, "/a")) == ("ok", "duplicate")
    assert last(begun).alias == slot(begun, "/b")


def test_errors_and_cut_pages_are_nobody_s_copies(begun):
    begun.visit(f"{SITE}/a", ONE)
    begun.visit(f"{SITE}/b", ONE, truncated=True)
    begun.visit(f"{SITE}/c", ONE, 404)
    assert (label(begun, "/b"), label(begun, "/c")) == ("truncated", "gone")


# Visits again


def test_a_304_keeps_content_links_and_size(begun):
    begun.visit(f"{SITE}/a", ONE, etag='"1"')
    first, pointer = last(begun), int(record(begun, "/a")["event"])
    begun.visit(f"{SITE}/a", status=304, etag='"1"')
    again = last(begun)
    assert (again.outcome, again.flags & CONTENT, again.digest) == (Outcome.OK, UNCHANGED | KEEP, first.digest)
    assert (again.visits, again.changes, again.interval_s) == (2, 0, pytest.approx(10.0, abs=0.1))
    row = record(begun, "/a")
    assert (int(row["event"]), int(row["size_bytes"])) == (pointer, len(ONE))
    assert int(row["simhash"]) == first.simhash


@pytest.mark.parametrize(
    "trouble", [{"status": 500}, {"status": 0, "error": "timeout"}, {"status": 404, "body": b"no"}]
)
def test_after_trouble_a_304_still_speaks_of_the_content_held(begun, trouble):
    begun.visit(f"{SITE}/a", ONE, etag='"1"')
    first = last(begun)
    begun.visit(f"{SITE}/a", **trouble)
    begun.visit(f"{SITE}/a", status=304)
    row = record(begun, "/a")
    assert (int(row["digest"]), int(row["simhash"]), int(row["size_bytes"])) == (first.digest, first.simhash, len(ONE))
    begun.visit(f"{SITE}/a", ONE, etag='"2"')
    row = record(begun, "/a")
    assert (int(row["simhash"]), int(row["changes"])) == (first.simhash, 0)


def test_the_same_content_under_new_validators_takes_them_over(begun):
    begun.visit(f"{SITE}/a", ONE, etag='"1"', last_modified="long ago")
    first, pointer = last(begun), int(record(begun, "/a")["event"])
    begun.visit(f"{SITE}/a", ONE, etag='"2"')
    again = last(begun)
    assert again.flags & CONTENT == UNCHANGED | HAS_LINKS
    assert (again.etag, again.last_modified, again.title, again.targets) == ('"2"', "", "One", first.targets)
    assert again.content == pointer
    begun.visit(f"{SITE}/a", ONE, etag='"3"')
    assert (last(begun).content, last(begun).etag) == (pointer, '"3"')


def test_a_change_counts_and_brings_its_own_links(begun):
    begun.visit(f"{SITE}/a", ONE)
    begun.visit(f"{SITE}/a", TWO)
    assert last(begun).flags & CONTENT == CHANGED | HAS_LINKS
    assert (last(begun).changes, last(begun).title) == (1, "Two")
    assert decode_slots(last(begun).targets).tolist() == [slot(begun, "/y")]
    begun.visit(f"{SITE}/a", ONE)
    assert last(begun).changes == 2


# The archive


def kinds(made):
    from evercrawl.store.archive.warc_read import walk

    return [
        found.record.fields["warc-type"] + found.record.fields.get("warc-profile", "").rpartition("/")[2]
        for found in walk(made.partition.disk, made.partition.archive.name(0))
        if found.record.kind in ("response", "revisit")
    ]


def test_what_is_archived_how(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", ONE, etag='"1"')
    made.visit(f"{SITE}/", status=304)
    made.visit(f"{SITE}/", ONE)
    made.visit(f"{SITE}/", ONE, squeeze=True)  # other bytes on the wire: they are not in the archive yet
    made.visit(f"{SITE}/", b"no", 404)
    made.visit(f"{SITE}/", b"", 0, error="timeout")
    made.refuse(f"{SITE}/", "robots: no")
    made.visit(f"{SITE}/", TWO)
    same = "identical-payload-digest"
    assert kinds(made) == [
        "response", "revisitserver-not-modified", f"revisit{same}", "response", "response", "response",
    ]  # fmt: skip
    assert [event.archive is not None for event in events(made)[1:]] == [True] * 5 + [False, False, True]


# The queues


@pytest.mark.parametrize("trouble", [{"status": 503}, {"status": 0, "error": "reset"}])
def test_a_page_in_trouble_is_tried_twice_more_and_then_waits(begun, trouble):
    host = begun.frontier.hosts[0]
    while begun.frontier.take_first(host) is not None:
        pass
    for waiting in (1, 1, 0):
        begun.visit(f"{SITE}/a", **trouble)
        assert [on[host.number] for on in begun.frontier.waiting_on()] == [waiting, 1 - waiting]
        assert begun.frontier.take_first(host) == (slot(begun, "/a"), bool(waiting))


def test_counts(begun):
    begun.visit(f"{SITE}/a", ONE)
    begun.visit(f"{SITE}/b", ONE)
    begun.visit(f"{SITE}/a", TWO)
    begun.visit(f"{SITE}/c", b"", 0, error="dns")
    tally = begun.learner.tally
    assert tally.outcomes == {"ok": 3, "duplicate": 1, "error": 1}
    assert tally.errors == {"dns": 1}
    assert tally.changed == 1
    assert tally.bytes_in == sum(event.wire_bytes for event in events(begun) if isinstance(event, Visit))


def test_listeners_hear_of_each_visit_once_when_it_is_remembered_and_queues_come_after_what_pages_are_valued_by(
    begun, monkeypatch
):
    heard = []
    for kind in (Queueing, Budgets, NearDuplicates, ProgressTally):
        monkeypatch.setattr(kind, "learned", lambda self, visit: heard.append((type(self), visit)))
    begun.visit(f"{SITE}/a", ONE)
    assert [who for who, _ in heard] == [NearDuplicates, Budgets, Queueing, ProgressTally]
    assert len({id(visit) for _, visit in heard}) == 1
    visit = heard[0][1]
    assert (visit.event, visit.leads.found) == (last(begun), last(begun).found)
    assert label(begun, "/a") == "ok"
