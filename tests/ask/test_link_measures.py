"""Other measures than the crawl's own, on the links that it read."""

import numpy as np
import pytest

from evercrawl.ask.rank.link_measures import MEASURES, measured_by, read_graph
from evercrawl.config import Config
from evercrawl.importance.offline import Graph
from evercrawl.importance.offline.hits import hits
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View

SITE = "http://example.org"


@pytest.fixture
def view(made):
    """Two hubs that link to two authorities, one of which only one hub knows; the first hub changed its mind."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/hub1", "/hub2"))
    made.visit(f"{SITE}/hub1", made.page("Hub", "/old"))
    made.visit(f"{SITE}/hub2", made.page("Second", "/a", "/b"))
    made.visit(f"{SITE}/hub1", made.page("Hub", "/a", "/hub1", text="other"))
    made.stop()
    crawl = opened(made.directory)
    yield View(crawl, Config(), made.now + 60.0)
    crawl.close()


def slots(view, *names: str):
    return [view.state.find_one(f"{SITE}/{name}") for name in names]


def test_links_are_those_that_were_read_last(view):
    home, hub1, hub2, old, a, b = slots(view, "", "hub1", "hub2", "old", "a", "b")
    links = {(home, hub1), (home, hub2), (hub1, a), (hub2, a), (hub2, b)}
    graph = read_graph(view)
    assert set(zip(graph.source.tolist(), graph.target.tolist(), strict=True)) == links
    hubs, authorities = hits(Graph.of(view.state.known.count, links))
    assert measured_by(view, "hub") == pytest.approx(hubs)
    assert measured_by(view, "authority") == pytest.approx(authorities)
    assert authorities[a] > authorities[b] > 1e-9 > authorities[old]


def test_every_measure_is_a_share(view):
    for measure in MEASURES:
        assert measured_by(view, measure).sum() == pytest.approx(1.0)
    a, b, hub2 = slots(view, "a", "b", "hub2")
    degrees = measured_by(view, "in-degree")
    assert (degrees[a], degrees[b], degrees[hub2]) == pytest.approx((0.4, 0.2, 0.2))
    ranks = measured_by(view, "pagerank")
    assert ranks[a] == ranks.max()
    assert np.ptp(measured_by(view, "pagerank", tax=0.999)) < np.ptp(ranks)


def test_without_links_there_is_nothing_to_measure(made):
    made.seed(f"{SITE}/")
    made.stop()
    crawl = opened(made.directory)
    view = View(crawl, Config(), made.now)
    for measure in MEASURES:
        assert not measured_by(view, measure).any()
    crawl.close()
