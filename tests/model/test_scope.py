"""Which URLs belong to a crawl."""

import pytest

from evercrawl.config import Config
from evercrawl.model.rules.scope import Scope


def scope(*roots: str, pages: int = 0, **settings: object):
    made = Scope(Config(**settings), lambda host: pages)
    for root in roots:
        made.add_root(root)
    return made


@pytest.mark.parametrize(
    ("kind", "url", "belongs"),
    [
        ("hosts", "http://www.a.co.uk/x", True), ("hosts", "https://www.a.co.uk:8443/", True),
        ("hosts", "http://a.co.uk/", False), ("hosts", "http://b.www.a.co.uk/", False),
        ("hosts", "http://b.co.uk/", False),
        ("domains", "http://a.co.uk/", True), ("domains", "http://deep.er.a.co.uk/", True),
        ("domains", "http://b.co.uk/", False), ("domains", "http://nota.co.uk/", False),
        ("any", "http://b.example/", True),
    ],
)  # fmt: skip
def test_hosts_domains_or_any(kind, url, belongs):
    assert scope("www.a.co.uk", scope=kind).allows(url, 1) is belongs


@pytest.mark.parametrize(("kind", "belongs"), [("hosts", False), ("domains", False), ("any", True)])
def test_without_a_root_nothing_belongs_but_anything(kind, belongs):
    assert scope(scope=kind).allows("http://a.example/", 0) is belongs


@pytest.mark.parametrize("kind", ["hosts", "domains"])
@pytest.mark.parametrize("root", ["127.0.0.1", "[::1]", "localhost"])
def test_hosts_that_have_no_domain_are_their_own(kind, root):
    one = scope(root, scope=kind)
    assert one.allows(f"http://{root}:8080/", 1)
    assert not one.allows("http://127.0.0.2/", 1)


@pytest.mark.parametrize("kind", ["hosts", "domains"])
def test_a_root_that_comes_later_belongs_too_and_its_pages_that_were_out(kind):
    one = scope("a.example", scope=kind)
    assert not one.allows("http://b.example/x", 1)
    one.add_root("b.example")
    assert one.allows("http://b.example/x", 1)


@pytest.mark.parametrize(
    ("settings", "path", "belongs"),
    [
        ({"include": ("^http://a.example/docs/",)}, "docs/1", True),
        ({"include": ("^http://a.example/docs/",)}, "blog/1", False),
        ({"include": ("docs", "blog")}, "blog/1", True),
        ({"exclude": (r"\?",)}, "docs?x", False),
        ({"exclude": (r"\.pdf$", "private")}, "private/x", False),
        ({"exclude": (r"\.pdf$",)}, "x.pdf.html", True),
        ({"include": ("docs",), "exclude": ("old",)}, "docs/old", False),
    ],
)
def test_patterns_are_found_anywhere_in_the_url(settings, path, belongs):
    assert scope("a.example", **settings).allows(f"http://a.example/{path}", 1) is belongs


@pytest.mark.parametrize(("most", "depth", "belongs"), [(0, 99, True), (2, 2, True), (2, 3, False)])
def test_depth(most, depth, belongs):
    assert scope("a.example", max_depth=most).allows("http://a.example/", depth) is belongs


@pytest.mark.parametrize(
    ("most", "pages", "more", "belongs"),
    [(0, 9999, 9, True), (10, 9, 0, True), (10, 10, 0, False), (10, 7, 2, True), (10, 7, 3, False)],
)
def test_pages_of_a_host(most, pages, more, belongs):
    assert scope("a.example", pages=pages, max_pages_per_host=most).allows("http://a.example/", 1, more) is belongs


@pytest.mark.parametrize("kind", ["hosts", "domains"])
def test_what_is_barred_is_out_at_every_depth_until_its_host_belongs(kind):
    one = scope("a.example", scope=kind, include=("docs",), exclude=("private",), max_depth=1)
    urls = [f"http://{host}/{path}" for host in ("a.example", "b.example") for path in ("docs/1", "x", "docs/private")]
    for _ in range(2):  # at first, and from memory
        assert [one.bars(url) for url in urls] == [False, True, True, True, True, True]
    assert not one.allows(urls[0], 2)
    assert not one.bars(urls[0])
    one.add_root("b.example")
    assert [one.bars(url) for url in urls[3:]] == [False, True, True]
