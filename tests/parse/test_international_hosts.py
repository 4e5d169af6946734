"""Hosts with international labels, well formed or not: what one reader of URLs takes, everything behind it takes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evercrawl.fetch.asking import Asker
from evercrawl.fetch.guard import Guard
from evercrawl.model.worth.page_features import features
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname, normalise, origin, path_query, resolve
from evercrawl.store.archive.surt import surt_key

ASKER = Asker([("Accept", "*/*")])


def everything(url: str) -> None:
    """Do to a URL in normal form whatever a crawl does to one."""
    assert normalise(url) == url
    assert normalise("", url) == url
    assert normalise("/sitemap.xml", url) == f"{origin(url)}/sitemap.xml"
    assert normalise("b?c", url) == f"{url.partition('?')[0].rpartition('/')[0]}/b?c"
    assert normalise("http://plain.example/", url) == "http://plain.example/"
    assert resolve(url, ["/x", "//other.example/y", "#z"])[:2] == [
        f"{origin(url)}/x", f"{url.partition(':')[0]}://other.example/y",
    ]  # fmt: skip
    assert path_query(url).startswith("/")
    assert site(hostname(url))
    assert Guard().judge_url(url) is not None
    assert surt_key(url)
    assert len(features([url], [1])) == 1
    try:
        assert ASKER.ask(url).absolute == url
    except ValueError:
        assert set(hostname(url)) & set("!\"$%&'()*+,;=`{}~")  # the asker's answer to names that no server has


@pytest.mark.parametrize(
    "host",
    [
        "xn--zz--a.evil.test", "xn--.evil.test", "xn--a.test", "xn--0.com", "xn--1ug.example", "a.b.c.xn--pokxncvks",
        "xn--bcher-kva.example", "XN--ls8h.la", "\u1e9e.com", "\u2c6f.test", "xn--a-ecp.ru", "xn--xn---epa.test",
    ],
)  # fmt: skip
def test_an_international_host_is_refused_or_taken_for_good(host: str) -> None:
    url = normalise(f"http://{host}/a/b")
    if url is not None:
        everything(url)


def test_what_the_standard_takes_is_taken() -> None:
    assert normalise("http://xn--zz--a.evil.test/") == "http://xn--zz--a.evil.test/"
    assert resolve("http://xn--.evil.test/a/", ["b", "../c?d"]) == [
        "http://xn--.evil.test/a/b", "http://xn--.evil.test/c?d",
    ]  # fmt: skip


labels = st.one_of(
    st.text("abxn-09z", min_size=1, max_size=8),
    st.text("abxn-09z", max_size=8).map(lambda rest: f"xn--{rest}"),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=4),
)


@given(st.lists(labels, min_size=1, max_size=4).map(".".join), st.sampled_from(["", "/a/b", "/a?b=%ff", "/\u00fc"]))
@example("0.?", "")
def test_whatever_the_host_nothing_behind_normalise_raises(host: str, rest: str) -> None:
    url = normalise(f"http://{host}.test{rest}")
    if url is not None:
        everything(url)
    for said in (f"//{host}/x", f"https://{host}.example/y"):
        if (moved := normalise(said, "http://plain.example/z")) is not None:
            everything(moved)
