"""Pages never read: who is ranked, by what, and how ranks are compared."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from evercrawl.importance.offline import pagerank
from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.papers.accuracy import graph_of, importance
from evercrawl.lab.papers.collecting import collect
from evercrawl.lab.papers.unread import PARTS, SCHEMES, Among, best, ranked, spearman
from evercrawl.lab.tables import mean
from evercrawl.simulate.graphs import Web, power_law

ORDER = "random"


@pytest.fixture(scope="module")
def web():
    return power_law(4000, 1)


def at(rows, part, scheme, measure="correlation") -> float:
    return mean(rows, measure, order=ORDER, read=part, scheme=scheme)


def rows_of(web, part, order=ORDER):
    truth = importance(web)
    pages = collect(web, order, np.arange(5), truth, 1)
    return ranked(web, pages[: int(part * len(pages))], truth, order, part, 1)


def test_ranks_are_compared_as_scipy_does():
    random = np.random.default_rng(1)
    one, other = random.integers(9, size=300).astype(float), random.random(300)
    assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert np.isnan(spearman(one[:1], other[:1]))
    assert best(other, other) == 1.0
    assert best(other, -other) == 0.0


def test_ranked_are_the_pages_that_are_known_and_were_not_read(web):
    truth = importance(web)
    pages = collect(web, "breadth_first", np.arange(5), truth)
    read = pages[: len(pages) // 4]
    known = set(np.concatenate([web.target[web.start[page] : web.start[page + 1]] for page in read]).tolist())
    rows = ranked(web, read, truth, "breadth_first", 0.25, 1)
    assert {row["pages"] for row in rows} == {len(known - set(read.tolist()))}
    assert [row["scheme"] for row in rows] == list(SCHEMES)


def test_the_more_is_read_the_better_the_rest_is_known_and_links_count_by_whose_they_are(web):
    degree, once, often, push = ([at(rows_of(web, part), part, scheme) for part in PARTS] for scheme in SCHEMES)
    assert push == sorted(push)
    assert all(value > 0.5 for value in push)
    for one, other in ((push, degree), (often, once), (often, degree)):
        assert all(better > worse for better, worse in zip(one, other, strict=True))
    assert often == pytest.approx(push, abs=0.02), "both know the same links"


def test_errors_are_those_of_importance_among_the_pages_never_read(web):
    truth, random = importance(web), rows_of(web, 0.4)
    read = collect(web, ORDER, np.arange(5), truth, 1)
    read = read[: int(0.4 * len(read))]
    links = np.isin(web.source, read)
    into = np.bincount(web.target[links], minlength=web.pages).astype(float)
    into[read] = 0
    unread = into > 0
    off = np.abs(into[unread] / into.sum() - truth[unread] / truth[unread].sum())
    assert at(random, 0.4, "in-degree", "weighted") == pytest.approx(off.sum())
    assert at(random, 0.4, SCHEMES[-1], "mean") < at(random, 0.4, SCHEMES[0], "mean")


def test_when_all_but_one_page_is_read_it_has_its_pagerank():
    web = Web.of(5, np.array([0, 1, 1, 2, 3, 3]), np.array([1, 2, 3, 0, 0, 4]))
    rows = ranked(web, np.array([0, 1, 2]), pagerank(graph_of(web)), ORDER, 0.5, 1)
    assert {row["pages"] for row in rows} == {1}, "nothing that was read links to the last"


def test_pages_are_read_in_their_order_and_then_round_and_round():
    among = Among(np.array([7, 3, 9]))
    picks = np.concatenate([among.next(2, among), among.next(3, among), among.next(4, among)]).tolist()
    assert picks[:3] == [7, 3, 9]
    assert sorted(picks[3:6]) == [3, 7, 9]
    assert picks[3:6] == picks[6:9]


def test_every_order_part_and_scheme_is_told_of():
    found = experiment("unread").run(LabOptions(pages=2000), lambda line: None)
    assert len(found.rows) == 3 * len(PARTS) * len(SCHEMES)
    assert len(found.claims) == 6
    assert len(found.panels) == 6
    assert all(row["rank"] == pytest.approx(1 - row["correlation"], abs=1e-3) for row in found.rows)
    assert all(-1 <= row["correlation"] <= 1 and 0 <= row["found"] <= 1 for row in found.rows)
