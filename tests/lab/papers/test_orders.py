"""The orders of the survey: the kernel reads pages as the policies of the same names would."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

from evercrawl import catalog, schedule
from evercrawl.errors import ConfigError
from evercrawl.importance.offline import solve
from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.papers.accuracy import importance
from evercrawl.lab.papers.collecting import ORDERS, collect, known_links
from evercrawl.lab.papers.orders import ASSERTED, Orders, collected, compare, seeds_of
from evercrawl.lab.papers.webs import sites_of
from evercrawl.model.web.known_ranks import following
from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.simulate.graphs import Web, copying, power_law, sites

PAGES = 400
SEEDS = np.array([3, 200, 7])


def quiet(line):
    assert line


class Slowly:
    """A crawl that asks a policy for the value of every page that waits, before each visit."""

    def __init__(self, web, name) -> None:
        self.policy = catalog.pick(schedule.policies, schedule.Policy, name)()  # type: ignore[type-abstract]
        self.web, self.found, self.read = web, list(SEEDS.tolist()), list[int]()
        self.in_links, self.rank = np.zeros(web.pages), np.zeros(web.pages)
        self.cash = {page: 1 / len(SEEDS) for page in self.found}
        self.solved, self.due = 0, 1

    def next(self):
        waiting = [page for page in self.found if page not in set(self.read)]
        if not waiting:
            return None
        return waiting[int(np.argmax(self.policy.value(self.pages(np.array(waiting)), Context(0.0))))]

    def pages(self, waiting):
        none, never = np.zeros(len(waiting)), np.full(len(waiting), np.nan)
        slot = np.array([self.found.index(page) for page in waiting], np.uint32)
        cash = np.array([self.cash.get(page, 0.0) for page in waiting])
        site = self.web.site if self.web.site is not None else np.zeros(self.web.pages, int)
        backlog = np.bincount(site[waiting], minlength=site.max() + 1)[site[waiting]].astype(float)
        return Pages(
            slot, never, none, cash, none, none, none, none, none, self.in_links[waiting], self.rank[waiting], backlog
        )

    def visit(self, page):
        to = self.web.target[self.web.start[page] : self.web.start[page + 1]].tolist()
        self.read.append(page)
        for target in to:
            if target not in self.found:
                self.found.append(target)
                self.rank[target] = 1 / max(self.solved, 1)
            if self.found.index(target) >= self.solved:
                self.rank[target] += 0.85 * self.rank[page] / len(to)
            self.in_links[target] += 1
        cash = self.cash.pop(page, 0.0)
        for target in to:
            self.cash[target] = self.cash.get(target, 0.0) + 0.85 * cash / len(to)
        virtual = cash * (0.15 if to else 1.0)
        for known in self.found:
            self.cash[known] = self.cash.get(known, 0.0) + virtual / len(self.found)
        if len(self.read) == self.due:
            self.solved, self.due = len(self.found), following(self.due)
            own = np.zeros(self.web.pages)
            own[self.found] = 1 / self.solved
            self.rank = solve(known_links(self.web, np.array(self.read)), 0.15, own, 1e-6)

    def run(self):
        while (page := self.next()) is not None:
            self.visit(page)
        return self.read


@pytest.mark.parametrize("web", [power_law(PAGES, 1), sites(PAGES, 2)], ids=["power-law", "sites"])
@pytest.mark.parametrize("order", ["breadth_first", "in_degree", "larger_sites"])
def test_the_kernel_reads_what_the_policy_would(web, order):
    if order == "larger_sites" and web.site is None:
        web = sites(PAGES, 3, internal=0.5)
    assert collect(web, order, SEEDS, np.zeros(0)).tolist() == Slowly(web, order).run()


@pytest.mark.parametrize("order", ["opic", "pagerank"])
def test_where_floats_decide_it_reads_what_is_worth_as_much(order):
    web = copying(PAGES, 1)
    slowly = Slowly(web, order)
    for page in collect(web, order, SEEDS, np.zeros(0)).tolist():
        waiting = [known for known in slowly.found if known not in set(slowly.read)]
        best = slowly.policy.value(slowly.pages(np.array(waiting)), Context(0.0)).max()
        assert slowly.policy.value(slowly.pages(np.array([page])), Context(0.0))[0] == pytest.approx(best, rel=1e-5)
        slowly.visit(page)
    assert slowly.next() is None


@pytest.mark.parametrize("order", ORDERS)
def test_every_page_that_can_be_reached_is_read_once(order):
    web = sites(2000, 1)
    truth = importance(web)
    read = collect(web, order, SEEDS, truth)
    assert sorted(read.tolist()) == sorted(collect(web, "breadth_first", SEEDS, truth).tolist())
    assert len(read) > 1800


def test_nobody_is_before_who_knows_the_truth_and_any_page_is_after_all_that_look():
    found = compare("web", power_law(5000, 1), 1, quiet)
    areas = {name: one.area for name, one in found.items()}
    assert "larger_sites" not in areas, "there are no sites"
    assert max(areas, key=areas.__getitem__) == "best"
    assert min(areas, key=areas.__getitem__) == "random"
    assert areas["pagerank"] > areas["in_degree"] > areas["breadth_first"]


def test_what_was_collected_counts_from_the_first_page_to_the_last():
    found = collected(np.array([4.0, 3.0, 2.0, 1.0]))
    assert found.area == pytest.approx((0.4 + 0.7 + 0.9 + 1.0) / 4)
    assert found.at[24] == 0.7, "half of the pages"
    assert found.at[-1] == 1.0


def test_seeds_lead_about_as_far_as_any():
    lost = Web.of(2000, np.arange(1000, 1999), np.arange(1001, 2000))  # a chain, and pages that lead nowhere
    web = Web.of(2000, np.append(lost.source, [5, 6]), np.append(lost.target, [6, 5]))
    draws = seeds_of(web, 1)
    reach = [len(collect(web, "breadth_first", seeds, np.zeros(0))) for seeds in draws]
    assert draws
    assert min(reach) >= max(reach) / 2


def test_each_assertion_of_the_survey_is_answered_for_each_web_and_over_all():
    found = experiment("orders").run(LabOptions(pages=1500), quiet)
    assert {row["graph"] for row in found.rows} == {"power-law", "sites", "copying", "bow-tie"}
    said = [claim.claim for claim in found.claims]
    for better, worse in ASSERTED:
        sentence = f"{better} is better than {worse}".replace("_", "-")
        assert sum(one.startswith(sentence) for one in said) == (2 if "larger_sites" in (better, worse) else 5)
        assert f"{sentence}: all graphs" in said
    assert len(found.panels) == 4
    assert not found.missed


@pytest.fixture
def folder(tmp_path):
    """A graph of three versions of some documents, in files."""
    web = sites(600, 1)
    write_table(pa.table({"src": web.source, "dst": web.target}), tmp_path / "docs.edges.parquet")
    paths = [f"html/en/{page % 3}.0/p{page}.html" for page in range(600)]
    write_table(pa.table({"page": range(600), "path": paths}), tmp_path / "docs.nodes.parquet")
    return tmp_path


def test_graphs_of_a_folder_are_taken_with_the_sites_of_their_paths(folder):
    site = sites_of(folder / "docs.edges.parquet")
    assert site is not None
    assert (site == np.arange(600) % 3).all()
    found = Orders().run(LabOptions(graph=folder), quiet)
    assert {row["graph"] for row in found.rows} == {"docs"}
    assert "larger_sites" in {row["order"] for row in found.rows}


def test_without_paths_there_are_no_sites(folder):
    (folder / "docs.nodes.parquet").unlink()
    assert sites_of(folder / "docs.edges.parquet") is None
    found = Orders().run(LabOptions(graph=folder / "docs.edges.parquet"), quiet)
    assert "larger_sites" not in {row["order"] for row in found.rows}
    claims = {claim.claim: claim for claim in found.claims}
    assert claims["larger-sites is better than breadth-first: all graphs"].verdict == "open"


def test_a_damaged_file_of_paths_and_an_empty_folder_are_told(folder, tmp_path):
    (folder / "docs.nodes.parquet").write_bytes(b"no table")
    with pytest.raises(ConfigError, match=r"docs\.nodes\.parquet cannot be read"):
        sites_of(folder / "docs.edges.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="a folder without any"):
        Orders().run(LabOptions(graph=tmp_path / "empty"), quiet)
