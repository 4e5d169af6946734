"""The search index follows what is remembered: what is learned, vanishes, comes back, and what a crash takes."""

import pytest

from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.index import check_index
from evercrawl.errors import NoRoomError, StoreError
from evercrawl.model.stored.indexed import difference
from evercrawl.progress import Limits
from evercrawl.search.index import Index
from evercrawl.search.query import parse
from evercrawl.simulate.worlds.made_web import MadeWeb

SITE = "http://a.example"
AGAIN = {"refresh_after_s": 60.0}  # so that minutes are enough


@pytest.fixture
def index():
    return Index(None)


def found(index, words):
    return sorted(index.search(parse(words)).slot.tolist())


def in_step(run, index):
    """Hold the index against the fold of the whole journal."""
    partition = run.folded()
    findings = Findings()
    check_index(partition, index, findings)
    assert findings.fine, findings.wrong
    assert not findings.mends
    lacking = difference(partition.state, index)
    assert not len(lacking.missing)
    assert not len(lacking.extra)
    partition.close()


def test_a_whole_crawl_is_indexed(run, index):
    web = MadeWeb(seed=3, origins=(SITE, "http://b.example"), pages=20)
    run(run.World(web), [SITE + "/", "http://b.example/"], search=index)
    in_step(run, index)
    outcomes = run.outcomes()
    assert len(index.held()[0]) == sum(outcome == 1 for outcome, _ in outcomes.values())
    assert found(index, "welcome")


def test_words_of_links_lead_to_their_targets(run, index):
    world = run.World()
    world.pages[SITE + "/"] = run.html("/p", text="start")
    body = b'<title>Start</title><p>first <a href="/p">zebra crossing</a>'
    world.pages[SITE + "/"] = run.Answer(200, {"Content-Type": "text/html"}, body)
    world.pages[SITE + "/p"] = run.html(text="nothing of the kind")
    run(world, [SITE + "/"], search=index)
    partition = run.folded()
    (slot,) = [s for s in range(partition.state.known.count) if partition.state.urls.get(s) == SITE + "/p"]
    partition.close()
    assert slot in found(index, "zebra")


def test_a_changed_page_is_found_by_its_new_words_only(run, index):
    world = run.World()
    world.pages[SITE + "/"] = run.html(text="giraffe")
    run(world, [SITE + "/"], search=index)
    assert found(index, "giraffe")
    world.pages[SITE + "/"] = run.html(text="walrus")
    run(world, [], Limits(seconds=400), search=index, **AGAIN)
    assert not found(index, "giraffe")
    assert found(index, "walrus")
    in_step(run, index)


def test_what_vanishes_leaves_the_index_and_what_returns_comes_back(run, index):
    world = run.World()
    page = run.html(text="giraffe")
    world.pages[SITE + "/"] = page
    run(world, [SITE + "/"], search=index)
    world.pages[SITE + "/"] = run.Answer(404, {}, b"")
    ran = run(world, [], Limits(seconds=1500), search=index, **AGAIN)
    assert ran.visits[-1].misses >= 2
    assert not found(index, "giraffe")
    in_step(run, index)
    world.pages[SITE + "/"] = page  # byte for byte: its content is held, and is read from the archive
    run(world, [SITE + "/"], Limits(seconds=400), search=index, **AGAIN)
    assert found(index, "giraffe")
    in_step(run, index)


def test_a_redirect_takes_the_place_of_content(run, index):
    world = run.World()
    world.pages[SITE + "/"] = run.html("/old", text="start")
    world.pages[SITE + "/old"] = run.html(text="giraffe")
    run(world, [SITE + "/"], search=index)
    world.pages[SITE + "/old"] = run.Answer(301, {"Location": "/new"}, b"")
    world.pages[SITE + "/new"] = run.html(text="giraffe there")
    run(world, [], Limits(seconds=300), search=index, **AGAIN)
    assert len(found(index, "giraffe")) == 1
    in_step(run, index)


def test_copies_and_what_asks_not_to_be_found_have_no_words(run, index):
    world = run.World()
    world.pages[SITE + "/"] = run.html("/a", "/b", "/c", text="start")
    world.pages[SITE + "/a"] = world.pages[SITE + "/b"] = run.html(text="giraffe")
    world.pages[SITE + "/c"] = run.html(text="giraffe hidden", head='<meta name="robots" content="noindex">')
    run(world, [SITE + "/"], search=index)
    assert len(found(index, "giraffe")) == 1
    assert not found(index, "hidden")
    in_step(run, index)


def test_an_index_that_lost_its_last_commits_is_mended_from_the_archive(run, index):
    web = MadeWeb(seed=3, origins=(SITE,), pages=30)
    run(run.World(web), [SITE + "/"], Limits(pages=10), search=index)
    behind = index.at
    run(run.World(web), [], Limits(pages=10))  # a run without: the index falls behind
    assert index.at == behind
    run(run.World(web), [], Limits(seconds=60), search=index)
    assert index.at > behind
    in_step(run, index)


def test_a_crawl_without_an_index_gets_one_later(run, index):
    web = MadeWeb(seed=3, origins=(SITE,), pages=30)
    run(run.World(web), [SITE + "/"])
    run(run.World(web), [], Limits(seconds=600), search=index)
    assert found(index, "welcome")
    in_step(run, index)


@pytest.fixture
def failing(monkeypatch):
    """Let the first commits of an index fail, as many as the list is long."""
    commit, failing = Index.commit, [True, True]

    def fail(self: Index, at: int) -> None:
        if failing:
            failing.pop()
            raise StoreError("the search index cannot be written to")
        commit(self, at)

    monkeypatch.setattr(Index, "commit", fail)
    return failing


def test_an_index_that_cannot_be_written_does_not_stop_the_crawl(run, index, failing):
    web = MadeWeb(seed=3, origins=(SITE,), pages=30)
    ran = run(run.World(web), [SITE + "/"], Limits(seconds=200), search=index)
    assert any("cannot be written" in p.message for p in ran.progress)
    assert len(ran.visits) > 30
    in_step(run, index)


def test_an_index_whose_changes_cannot_be_discarded_is_written_later(run, index, failing, monkeypatch):
    abandon, abandoned = Index.abandon, list[int]()

    def fail_twice(self: Index) -> None:
        abandoned.append(1)
        if len(abandoned) <= 2:
            raise NoRoomError("no room for the search index")
        abandon(self)

    monkeypatch.setattr(Index, "abandon", fail_twice)
    web = MadeWeb(seed=3, origins=(SITE,), pages=30)
    ran = run(run.World(web), [SITE + "/"], Limits(seconds=400), search=index)
    assert any("no room for the search index" in p.message for p in ran.progress)
    assert len(abandoned) == 4  # two failed commits, and two that could not be discarded at once
    assert found(index, "welcome")
    in_step(run, index)


def test_pages_go_into_the_index_some_at_a_turn_and_a_failure_does_not_stop_the_crawl(run, index, monkeypatch):
    put, sizes = Index.put, []

    def fail_once(self: Index, pages) -> None:
        sizes.append(len(pages))
        if len(sizes) == 2:
            raise StoreError("the search index cannot be written to")
        put(self, pages)

    monkeypatch.setattr(Index, "put", fail_once)
    monkeypatch.setattr("evercrawl.crawl.learn.indexing.TOGETHER", 8)
    web = MadeWeb(seed=3, origins=(SITE,), pages=30)
    ran = run(run.World(web), [SITE + "/"], Limits(seconds=200), search=index, index_every_s=1000.0)
    assert sizes[:2] == [8, 8]  # before there was any commit
    assert any("cannot be written" in p.message for p in ran.progress)
    in_step(run, index)


def test_words_of_links_are_not_lost_with_a_failed_commit(run, index, failing):
    world = run.World()
    body = b'<title>Start</title><p>first <a href="/p">zebra crossing</a>'
    world.pages[SITE + "/"] = run.Answer(200, {"Content-Type": "text/html"}, body)
    world.pages[SITE + "/p"] = run.html(text="nothing of the kind")
    run(world, [SITE + "/"], Limits(seconds=200), search=index)
    assert not failing
    assert len(found(index, "zebra")) == 2  # the page that says it, and the one it says it of


def test_a_damaged_archive_record_does_not_keep_a_crawl_from_going_on(run, index):
    web = MadeWeb(seed=3, origins=(SITE,), pages=30)
    run(run.World(web), [SITE + "/"], Limits(pages=20))
    (segment,) = (run.directory / "archive").glob("*.warc.gz")
    data = bytearray(segment.read_bytes())
    data[len(data) // 3 : len(data) // 2] = bytes(len(data) // 2 - len(data) // 3)
    segment.write_bytes(data)
    ran = run(run.World(web), [], search=index)
    assert len(ran.visits) > 20
    told = [p.message for p in ran.progress if p.message]
    assert any("will not be found until it changes" in message and segment.name in message for message in told)
    in_step(run, index)
