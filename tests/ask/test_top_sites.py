"""Sites by the links between them, and pages by site."""

import numpy as np
import pytest

from evercrawl.ask.rank.top import top_pages
from evercrawl.ask.rank.top_sites import top_sites
from evercrawl.model.view import View
from evercrawl.model.web.site_graph import SiteGraph

A, B, C, D = (f"http://{name}.example" for name in "abcd")


@pytest.fixture(autouse=True)
def everything_belongs(made) -> None:
    for name in "abcd":
        made.scope.add_root(f"{name}.example")


def visit(made, url: str, *links: str, text: str = "") -> None:
    made.visit(url, made.page(url, *links, text=text or f"this is {url}"))


def three_sites(made) -> None:
    """Three pages of a link to b, one of these also to c; b links to c from one page, and c to nothing."""
    made.seed(f"{A}/")
    visit(made, f"{A}/", f"{A}/1", f"{A}/2", f"{B}/")
    visit(made, f"{A}/1", f"{A}/", f"{B}/x", f"{B}/")
    visit(made, f"{A}/2", f"{A}/", f"{A}/1", f"{B}/x", f"{C}/")
    visit(made, f"{B}/", f"{C}/")
    visit(made, f"{B}/x", f"{B}/")
    visit(made, f"{C}/")


def links(view: View) -> dict[tuple[str, str], int]:
    found, sites = SiteGraph(view).links, [name[0] for name in view.state.sites]
    pairs = zip(found.source.tolist(), found.target.tolist(), found.pages.tolist(), strict=True)
    return {(sites[source], sites[target]): pages for source, target, pages in pairs}


def test_a_link_between_sites_counts_the_pages_behind_it(made, asked):
    three_sites(made)
    assert links(asked()) == {("a", "b"): 3, ("a", "c"): 1, ("b", "c"): 1}


def test_sites_are_worth_what_the_sites_are_that_link_to_them(made, asked):
    three_sites(made)
    view = asked()
    a = 1.0
    b = 1 + 0.85 * 2 / 3 * a  # log2(1 + 3) against log2(1 + 1)
    c = 1 + 0.85 * 1 / 3 * a + 0.85 * b
    first, second, third = top_sites(view, 10)
    assert [first.site, second.site, third.site] == ["c.example", "b.example", "a.example"]
    assert [first.importance, second.importance, third.importance] == pytest.approx(np.array([c, b, a]) / (a + b + c))
    assert first.times_mean == pytest.approx(3 * first.importance)
    assert [(site.linking, site.known, site.read) for site in (first, second, third)] == [
        (2, 1, 1),
        (1, 2, 2),
        (0, 3, 3),
    ]
    assert [site.site for site in top_sites(view, 1)] == ["c.example"]


def test_a_footer_on_all_pages_weighs_as_one_page_does(made, asked):
    made.seed(f"{A}/")
    visit(made, f"{A}/", f"{A}/1", f"{A}/2", f"{A}/3", f"{B}/")
    for name in "123":
        visit(made, f"{A}/{name}", f"{B}/", *([f"{C}/"] if name == "3" else []))
    found = SiteGraph(asked()).links
    assert found.pages.tolist() == [4, 1]
    assert found.weight.tolist() == [1.0, 1.0]


def test_the_sum_over_the_pages_is_told_beside(made, asked):
    three_sites(made)
    view = asked()
    pages = {page.url: page.importance for page in top_pages(view, 100)}
    for site in top_sites(view, 10):
        of_pages = sum(share for url, share in pages.items() if f"//{site.site}/" in url)
        assert site.of_pages == pytest.approx(of_pages)


def test_links_are_those_that_the_pages_have_now(made, asked):
    three_sites(made)
    visit(made, f"{A}/2", f"{A}/", f"{D}/y", text="another")  # neither to b nor to c any more
    made.visit(f"{B}/", b"", 304)
    for _ in range(2):
        made.visit(f"{A}/1", b"gone", 404)
    assert links(asked()) == {("a", "b"): 1, ("a", "d"): 1, ("b", "c"): 1}


def test_one_404_may_be_a_mistake(made, asked):
    three_sites(made)
    made.visit(f"{A}/1", b"gone", 404)
    assert links(asked())["a", "b"] == 3


def test_a_redirect_and_a_copy_link_to_where_they_lead(made, asked):
    made.seed(f"{A}/", f"{A}/copy", f"{C}/")
    made.visit(f"{A}/", b"", 301, location=f"{B}/")
    visit(made, f"{C}/", f"{B}/", f"{A}/", text="the same " * 400)
    made.visit(f"{A}/copy", made.page(f"{C}/", f"{B}/", f"{A}/", text="the same " * 400))
    assert links(asked()) == {("a", "b"): 1, ("a", "c"): 1, ("c", "a"): 1, ("c", "b"): 1}


def test_a_site_of_which_nothing_is_read_has_what_links_bring_and_no_source(made, asked):
    made.seed(f"{A}/")
    visit(made, f"{A}/", f"{B}/deep", f"{A}/1")
    made.seed(f"{C}/", f"{D}/")  # their front pages are known: they could not be read, or were not yet
    made.visit(f"{D}/", b"", 0, error="dns")
    sites = {site.site: site.importance for site in top_sites(asked(), 5)}
    assert sites["b.example"] == pytest.approx(0.85 * sites["a.example"])
    assert sites["c.example"] == sites["d.example"] == 0.0


def test_a_mirror_has_no_source(made, asked):
    made.seed(f"{A}/", f"{B}/")
    for site in (A, B):
        made.visit(f"{site}/", made.page("Home", f"{C}/", text="the same " * 400))
    sites = {site.site: site for site in top_sites(asked(), 5)}
    assert (sites["b.example"].importance, sites["b.example"].read) == (0.0, 1)
    assert sites["c.example"].importance == pytest.approx(0.85 * sites["a.example"].importance)


def test_where_some_sites_are_trusted_only_they_have_a_source(made, asked):
    three_sites(made)
    view = asked()
    view.state.accounts.sites["trusted"][[0, 2]] = 0  # all but b
    sites = {site.site: site.importance for site in top_sites(view, 5)}
    assert sites["a.example"] == 0.0
    assert sites["c.example"] == pytest.approx(0.85 * sites["b.example"])


def test_pages_by_site_compare_sites_first(made, asked):
    """The one page of c comes first, for c is the most important site; and inside a site the order is the pages'."""
    three_sites(made)
    view = asked()
    key = SiteGraph(view).pages()
    assert key.sum() == pytest.approx(1.0)
    pages = top_pages(view, 10, key)
    assert pages[0].url == f"{C}/"
    plain = [page.url for page in top_pages(view, 10) if page.url.startswith(A)]
    assert [page.url for page in pages if page.url.startswith(A)] == plain
    of_site = {site.site: site.importance for site in top_sites(view, 5)}
    assert sum(page.importance for page in pages if page.url.startswith(A)) == pytest.approx(of_site["a.example"])


def test_an_alias_has_no_place_among_the_pages(made, asked):
    three_sites(made)
    made.seed(f"{A}/old")
    made.visit(f"{A}/old", b"", 301, location=f"{A}/1")
    view = asked()
    key = {view.state.urls.get(slot): float(value) for slot, value in enumerate(SiteGraph(view).pages())}
    assert key[f"{A}/old"] == 0.0
    assert key[f"{A}/1"] > 0


def test_a_crawl_that_knows_nothing_has_no_sites(made, asked):
    made.save()
    assert top_sites(asked(), 5) == []
