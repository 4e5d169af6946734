"""Hashes of what strangers choose: no text that was made to have another's hash takes its place."""

import msgspec
import pytest
import xxhash

from evercrawl.arrays.hasher import Hasher
from evercrawl.ask.content import content
from evercrawl.config import Config
from evercrawl.crawl.workers.workers import Workers
from evercrawl.model.stored.answers import answer_of, exchange_of
from evercrawl.parse.urls import normalise
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import Answer, MadeWeb
from evercrawl.store.birth import FILE
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import CHANGED
from evercrawl.types import Outcome
from tests.helpers.forged import ATTACKER, VICTIM, forged

SEED, OTHER = "http://a.example/", "http://b.example/"
ANY = {"scope": "any", "refresh_after_s": 100.0}
HEAD = b"<html><p>      01234 </p>" + b"<p>words of the page</p>" * 16


def xxh3(data):
    return xxhash.xxh3_64_intdigest(data)


def page(body):
    return Answer(200, {"Content-Type": "text/html"}, body)


@pytest.mark.parametrize("first", [VICTIM, ATTACKER])
def test_two_urls_that_had_one_key_both_have_their_page(run, first):
    assert VICTIM != ATTACKER
    assert xxh3(VICTIM.encode()) == xxh3(ATTACKER.encode())
    assert [normalise(url) for url in (VICTIM, ATTACKER)] == [VICTIM, ATTACKER]
    second = ATTACKER if first == VICTIM else VICTIM
    world = run.World()
    world.pages = {
        SEED: run.html(first, "/then"),
        SEED + "then": run.html(second, text="other words"),
        VICTIM: run.html(text="what the victim says"),
        ATTACKER: run.html(text="what the attacker says"),
    }
    ran = run(world, [SEED], **ANY)
    assert min(ran.pages[url] for url in (VICTIM, ATTACKER)) >= 1
    assert {run.outcomes()[url] for url in (VICTIM, ATTACKER)} == {(Outcome.OK, 1)}
    partition, config = run.restored(), Config(**ANY)
    for url, linked in ((first, SEED), (second, SEED + "then")):
        says = b"victim" if url == VICTIM else b"attacker"
        assert says in content(partition, url, config, run.now).body
        slot = partition.state.find_one(url)
        assert partition.state.urls.get(slot) == url
        paying = [event.slot for event in ran.visits if slot in decode_slots(event.targets).tolist()]
        assert partition.state.urls.get_many(paying) == [linked]
    partition.close()


def test_a_forged_content_is_no_copy(run):
    one, other = forged(HEAD)
    assert xxh3(one) == xxh3(other)
    world = run.World()
    world.pages = {SEED: page(one), OTHER: page(other)}
    run(world, [SEED, OTHER], **ANY)
    assert {run.outcomes()[url] for url in (SEED, OTHER)} == {(Outcome.OK, 1)}


def test_a_forged_content_hides_no_change(run):
    one, other = forged(HEAD)
    changes_at, world = run.now + 500, run.World()
    world.pages = {SEED: lambda headers, at: page(one if at < changes_at else other)}
    ran = run(world, [SEED], Limits(seconds=1000), **ANY)
    assert len(ran.visits) > 5
    assert sum(event.flags & CHANGED for event in ran.visits) == 1


def test_every_hash_of_a_crawl_is_under_its_secret(run):
    """Of keys and contents, wherever they are made: here, and by other processes."""
    made = []

    def workers(hasher: Hasher) -> Workers:
        made.append(Workers(1, "evercrawl", hasher, text=False, longest_bytes=10 << 20, waiting=True, busy_s=0.0))
        return made[-1]

    web = MadeWeb(seed=5, origins=("http://a.example", "http://b.example"), pages=30)
    for parsers in (None, workers):
        try:
            ran = run(run.World(web), [SEED], Limits(pages=30), parsers=parsers, **ANY)
        finally:
            for one in made:
                one.close()
        partition = run.restored()
        state, hasher = partition.state, partition.hasher
        assert len(hasher.secret) == 16
        urls = state.urls.get_many(range(state.known.count))
        assert state.known.rows()["key"].tolist() == [hasher.key(url) for url in urls]
        assert not {hasher.key(url) for url in urls} & {xxh3(url.encode()) for url in urls}
        read = [event for event in ran.visits if event.archive is not None and event.outcome == Outcome.OK]
        assert len(read) > 10
        for event in read:
            answer = answer_of(partition, event)
            if answer.status == 200:
                body = exchange_of(event, answer).body
                assert (event.digest, event.digest_rest) == hasher.digest(body)
        partition.close()


def test_the_secret_follows_from_the_seed_of_a_made_up_world(run, tmp_path):
    def crawled(name: str, seed: int) -> tuple[str, str]:
        one = type(run)(tmp_path / name)
        ran = one(one.World(MadeWeb(seed=5, origins=("http://a.example",), pages=10)), [SEED], seed=seed)
        return msgspec.json.decode((one.directory / FILE).read_bytes())["secret"], ran.digest

    assert crawled("one", 1) == crawled("again", 1)
    assert crawled("other", 2)[0] != crawled("one more", 1)[0]
