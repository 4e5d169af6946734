"""Sites steer: what a page's site matters by OPIC, kept through restarts."""

import numpy as np
import pytest
from weighing import columns, every, importance, worth

from evercrawl.ask.rank.top_sites import top_sites
from evercrawl.importance.sites.site_cash import SiteCash
from evercrawl.model.worth.site_weight import SiteWeight
from evercrawl.store.table.known import KnownLog

A, B, C = (f"http://{name}.example" for name in "abc")


@pytest.fixture(autouse=True)
def everything_belongs(made) -> None:
    for name in "abc":
        made.scope.add_root(f"{name}.example")


def read(made, url: str, *links: str) -> None:
    made.visit(url, made.page(url, *links, text=f"this is {url}"))


def three_sites(made) -> None:
    made.seed(f"{A}/", f"{B}/", f"{C}/")
    for _ in range(6):
        read(made, f"{A}/", f"{A}/1", f"{C}/")
        read(made, f"{B}/", f"{C}/", f"{B}/1")
        read(made, f"{C}/", f"{C}/1")
        made.now += 100.0


def test_pages_count_as_their_sites_do(made):
    three_sites(made)
    ratio = worth(made, "site") / importance(made)
    site = made.state.site_of[made.state.known.rows()["host"]]
    times = [set(np.round(ratio[site == number], 9).tolist()) for number in range(3)]
    assert all(len(each) == 1 for each in times), "all pages of a site by the same factor"
    found = SiteWeight(made.partition).listener.importance()
    of_pages = np.bincount(site, importance(made)) / importance(made).sum()
    assert [each.pop() for each in times] == pytest.approx((0.1 + 0.9 * found / of_pages).tolist())
    assert found.argmax() == 2, "both others link to it"
    assert worth(made, "site").sum() == pytest.approx(importance(made).sum(), rel=1e-6)


def test_a_visit_reads_the_hosts_of_its_links_alone(made, monkeypatch):
    three_sites(made)
    weight = SiteWeight(made.partition)
    made.heard = weight.listener
    made.restart()
    made.state.known.release()
    rows = KnownLog.rows
    monkeypatch.setattr(
        KnownLog, "rows", lambda log, *span: rows(log, *span) if len(span) == 2 else pytest.fail("all rows")
    )
    before = weight.listener.sites.total
    read(made, f"{A}/1", f"{B}/")
    worth(made, "site")
    assert weight.listener.sites.total > before


def test_a_crawl_that_goes_on_knows_what_one_that_was_never_interrupted_does(made):
    made.seed(f"{A}/", f"{B}/", f"{C}/")
    weight = SiteWeight(made.partition)
    seen = columns(made, weight)
    assert weight.message
    assert seen(every(made)).importance.tolist() == importance(made).tolist()
    made.heard = weight.listener
    made.restart()
    three_sites(made)
    assert not weight.message
    again = SiteWeight(made.partition)
    assert again.listener.importance().tolist() == weight.listener.importance().tolist()
    assert columns(made, again)(every(made)).importance.tolist() == pytest.approx(
        columns(made, weight)(every(made)).importance.tolist()
    )


def test_top_sites_shows_what_opic_gave_each(made, asked):
    three_sites(made)
    found = {site.site: site.by_opic for site in top_sites(asked(), 3)}
    assert sum(found.values()) == pytest.approx(1.0)
    assert max(found, key=found.__getitem__) == "c.example"


def test_opic_on_sites_comes_to_the_fixpoint_of_the_mean_rows_of_their_pages():
    draw, sites, tax = np.random.default_rng(1), 8, 0.15
    pages = [(int(draw.integers(sites)), sorted(set(draw.integers(sites, size=3).tolist()))) for _ in range(60)]
    pages = [(site, [other for other in links if other != site]) for site, links in pages]
    pages += [(site, [(site + 1) % sites]) for site in range(sites)]
    rows = np.zeros((sites, sites))
    for site, links in pages:
        rows[site] += (1 - tax) * np.bincount(links, minlength=sites) / max(len(links), 1)
    rows /= np.bincount([site for site, _ in pages], minlength=sites)[:, None]
    rows += (1 - rows.sum(axis=1, keepdims=True)) / sites
    true = np.linalg.matrix_power(rows, 200)[0]
    cash = SiteCash(tax)
    for _ in range(300):
        for place in draw.permutation(len(pages)).tolist():
            cash.visit(*pages[place])
        assert cash.cash(sites).sum() == pytest.approx(1.0)
    assert cash.importance(sites) == pytest.approx(true, rel=0.03)
