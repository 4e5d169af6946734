"""Which of two hosts that say the same is the mirror, and what of it is read."""

import random

import pytest

from evercrawl.ask.why.waiting import hindrances
from evercrawl.config import Config
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.model.web.mirrors import SAMPLED, Mirrors

A, B, LIST = "http://a.example", "http://b.example", "http://list.example"


def words(of: str) -> str:
    draw = random.Random(of)
    return " ".join("".join(draw.choices("aeioubcdfghjklmnprstvw", k=6)) for _ in range(200))


@pytest.fixture
def hosts(made):
    """Return what makes a list of forty pages on two hosts known, and reads ten of each."""

    def make(*seeds: str, other=words) -> Mirrors:
        for name in "ab":
            made.scope.add_root(f"{name}.example")
        made.seed(f"{LIST}/", *seeds)
        made.visit(f"{LIST}/", made.page("List", *(f"{host}/{i}" for i in range(40) for host in (A, B))))
        for i in range(10):
            made.visit(f"{A}/{i}", made.page(f"{i}", text=words(f"{i}")))
            made.visit(f"{B}/{i}", made.page(f"{i}", text=other(f"{i}")))
        return Mirrors(made.state)

    return make


def slots(made, host: str) -> list[int]:
    urls = made.state.urls.get_many(range(made.state.known.count))
    return [slot for slot, url in enumerate(urls) if url.startswith(f"{host}/") and made.state.record_of(slot) is None]


def test_the_host_that_was_known_later_is_the_mirror(made, hosts):
    mirrors = hosts()
    assert [(pair.copy, pair.original) for pair in mirrors.hosts.values()] == [(B, A)]
    spared = [slot for slot in slots(made, B) if mirrors.spared(slot, 1e9)]
    assert spared == [slot for slot in slots(made, B) if slot % SAMPLED]
    assert not any(mirrors.spared(slot, 1e9) for slot in slots(made, A))


def test_no_host_of_a_seed_is_a_mirror_of_another(made, hosts):
    mirrors = hosts(f"{B}/0")
    mirrors_of_seed = [(pair.copy, pair.original) for pair in mirrors.hosts.values()]
    assert mirrors_of_seed == [(A, B)]


def test_hosts_of_seeds_are_not_compared_with_each_other(made, hosts):
    assert not hosts(f"{B}/0", f"{A}/0").hosts


def test_who_says_something_else_is_none(made, hosts):
    assert not hosts(other=lambda of: words(of if int(of) < 7 else f"other {of}")).hosts


def test_what_cannot_be_read_there_is_read_here(made, hosts):
    hosts()
    for _ in range(2):
        made.visit(f"{A}/20", b"no", 404)
    mirrors = Mirrors(made.state)
    urls = {made.state.urls.get(slot): mirrors.original(slot, 1e9) for slot in slots(made, B) if slot % SAMPLED}
    assert urls.pop(f"{B}/20", "") == ""
    assert urls == {url: url.replace(B, A) for url in urls}
    assert len(urls) > 20


@pytest.mark.parametrize("spare", [True, False])
def test_why_a_page_is_not_read_is_told(made, hosts, spare):
    hosts()
    slot = next(slot for slot in slots(made, B) if slot % SAMPLED)
    made.stop()
    crawl = opened(made.directory)
    said = hindrances(View(crawl, Config(spare_mirrors=spare), made.now), slot)
    crawl.close()
    assert any(reason.startswith("b.example is a mirror: http://a.example/") for reason in said) == spare
