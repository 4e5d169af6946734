"""What orders ask of known links is what the journal says, whether it was learned visit by visit or read back."""

from typing import Any

import numpy as np
import pytest

from evercrawl.config import Config
from evercrawl.importance.offline import Graph, pagerank
from evercrawl.model.view import View
from evercrawl.model.web import known_ranks
from evercrawl.model.web.known_graph import KnownGraph
from evercrawl.model.web.known_ranks import TOLERANCE, following, last_due
from evercrawl.schedule.base import Context
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import Visit

SITE, OTHER, SHOP = "http://example.org", "http://other.example", "http://shop.example.org"
ALL = ("in_links", "rank", "backlog", "site", "host", "host_backlog")


@pytest.fixture
def known(made):
    """What is learned visit by visit."""
    graph = KnownGraph(made.partition, ALL)
    made.know(graph)
    return graph


def slots_of(made):
    return np.arange(made.state.known.count, dtype=np.uint32)


def by_url(made, known, name):
    urls = made.state.urls.get_many(range(made.state.known.count))
    return dict(zip(urls, known.of(slots_of(made))[name].tolist(), strict=True))


def wander(made, visits, seed=1):
    """Visit the pages of two sites again and again; half the time a page links to others than before."""
    draw = np.random.default_rng(seed)
    made.seed(f"{SITE}/", f"{OTHER}/")
    links: dict[str, list[str]] = {}
    for number in range(visits):
        urls = made.state.urls.get_many(range(made.state.known.count))
        url = urls[draw.integers(len(urls))]
        if url not in links or draw.random() < 0.5:
            links[url] = [f"{[SITE, OTHER][int(i) % 2]}/{i}" for i in draw.integers(40, size=5)]
        made.visit(url, made.page(f"{url} {number // 2}", *links[url]))


def test_links_are_counted_once_a_page_and_as_they_were_last_read(made, known):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/a", "/b", "/"))
    made.visit(f"{SITE}/a", made.page("A", "/b"))
    assert by_url(made, known, "in_links") == {f"{SITE}/": 0, f"{SITE}/a": 1, f"{SITE}/b": 2}
    made.visit(f"{SITE}/", made.page("Home again", "/a", "/c"))
    assert by_url(made, known, "in_links") == {f"{SITE}/": 0, f"{SITE}/a": 1, f"{SITE}/b": 1, f"{SITE}/c": 1}


def test_the_backlog_of_a_site_is_what_was_never_read_of_it(made, known):
    made.seed(f"{SITE}/", f"{OTHER}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    assert by_url(made, known, "backlog") == {f"{SITE}/": 2, f"{OTHER}/": 1, f"{SITE}/a": 2, f"{SITE}/b": 2}
    made.visit(f"{OTHER}/", made.page("Other"))
    made.visit(f"{SITE}/", made.page("Home again", "/a", "/b"))
    assert by_url(made, known, "backlog") == {f"{SITE}/": 2, f"{OTHER}/": 0, f"{SITE}/a": 2, f"{SITE}/b": 2}


def test_a_site_may_have_many_hosts_each_with_a_backlog_of_its_own(made, known):
    made.seed(f"{SITE}/", f"{SHOP}/", f"{OTHER}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", f"{SHOP}/b"))
    sites, hosts = (by_url(made, known, name) for name in ("site", "host"))
    assert sites[f"{SITE}/"] == sites[f"{SHOP}/b"] != sites[f"{OTHER}/"]
    assert hosts[f"{SITE}/"] == hosts[f"{SITE}/a"] != hosts[f"{SHOP}/"] == hosts[f"{SHOP}/b"]
    waiting = {f"{SITE}/": 1, f"{SITE}/a": 1, f"{SHOP}/": 2, f"{SHOP}/b": 2, f"{OTHER}/": 1}
    assert by_url(made, known, "host_backlog") == waiting
    assert by_url(made, known, "backlog")[f"{SHOP}/b"] == 3


def test_rank_is_pagerank_of_the_links_last_read_when_it_was_just_solved(made, known):
    wander(made, following(last_due(30)))
    last = {event.slot: event for _, _, event in made.partition.journal.replay() if isinstance(event, Visit)}
    pairs = [(slot, int(to)) for slot, event in last.items() for to in decode_slots(event.targets)]
    truth = pagerank(Graph.of(made.state.known.count, pairs))
    found = known.of(slots_of(made))["rank"]
    assert len(found) > 30
    assert np.abs(found / found.sum() - truth).sum() < 2 * TOLERANCE


def test_a_page_found_since_has_a_share_of_whoever_links_to_it(made, known):
    wander(made, 10)  # solved at 10, and next at 12
    before = known.of(slots_of(made))["rank"].copy()
    made.visit(f"{SITE}/", made.page("Home", "/new", "/newer"))
    new = known.of(slots_of(made))["rank"][len(before) :]
    home = by_url(made, known, "rank")[f"{SITE}/"]
    assert new == pytest.approx(1 / len(before) + 0.85 * home / 2)


@pytest.mark.parametrize("visits", [0, 1, 7, 33, 60])
def test_read_back_from_the_journal_it_is_the_same_to_the_last_bit(made, known, visits):
    wander(made, visits)
    again = KnownGraph(made.partition, ALL).of(slots_of(made))
    for name, column in known.of(slots_of(made)).items():
        assert column.tolist() == again[name].tolist(), name


def test_it_goes_on_from_there_as_if_nothing_had_happened(made, known):
    wander(made, 20)
    again = made.know(KnownGraph(made.partition, ALL))
    wander(made, 20, seed=2)
    whole = KnownGraph(made.partition, ALL).of(slots_of(made))
    for name, column in again.of(slots_of(made)).items():
        assert column.tolist() == whole[name].tolist(), name


def test_nothing_is_kept_that_nobody_needs(made):
    made.seed(f"{SITE}/")
    assert KnownGraph(made.partition, ()).of(slots_of(made)) == {}
    pages = made.columns(slots_of(made))
    assert pages.in_links is pages.rank is pages.backlog is None


def test_pagerank_is_solved_when_a_fifth_was_added(made, monkeypatch):
    solved, solve = [], known_ranks.solve

    def noted(*arguments: Any, **more: Any) -> Any:
        solved.append(made.learner.tally.visits + 1)
        return solve(*arguments, **more)

    monkeypatch.setattr(known_ranks, "solve", noted)
    made.know(KnownGraph(made.partition, ["rank"]))
    wander(made, 30)
    assert solved == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 19, 22, 26]
    assert [last_due(count) for count in (15, 16, 18, 19)] == [14, 16, 16, 19]


@pytest.mark.parametrize(
    ("policy", "need"), [("in_degree", "in_links"), ("pagerank", "rank"), ("larger-sites", "backlog")]
)
def test_whoever_looks_from_outside_is_told_the_same(made, known, policy, need):
    wander(made, 25)
    view = View(made.partition, Config(policy=policy), made.now)
    seen = getattr(view.candidates(slots_of(made)), need)
    assert seen.tolist() == known.of(slots_of(made))[need].tolist()
    assert np.isfinite(view.policy.value(view.candidates(slots_of(made)), Context(made.now))).all()
    assert getattr(view.columns(slots_of(made)), need) is None
