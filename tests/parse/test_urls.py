"""URLs in normal form, and their parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.parse.urls import hostname, normalise, origin, path_query, resolve


@pytest.mark.parametrize(
    ("url", "want"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org:80/a", "https://example.org:80/a"),
        ("http://example.org/a/../b/./c#d", "http://example.org/b/c"),
        ("http://user:secret@example.org:8080/a", "http://example.org:8080/a"),
        ("http://user@example.org/@b?c@d", "http://example.org/@b?c@d"),
        ("http://example.org/a@b", "http://example.org/a@b"),
        ("http://example.org/?b=2&a=1", "http://example.org/?b=2&a=1"),
        ("http://example.org/index.html", "http://example.org/index.html"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        (" http://example.org/a b\n", "http://example.org/a%20b"),
        ("http://faß.example/", "http://xn--fa-hia.example/"),
        ("http://XN--FA-HIA.example/", "http://xn--fa-hia.example/"),
        ("http://ex%61mple.org/", "http://example.org/"),
        ("http://example.org/\ud800", "http://example.org/%EF%BF%BD"),
        ("http://example.org.", "http://example.org/"),
        ("http://user@example.org.:8080/a./b", "http://example.org:8080/a./b"),
        ("http://Example.org%2E/a?b./c", "http://example.org/a?b./c"),
        ("http://bücher.example。/", "http://xn--bcher-kva.example/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://example.org/a./b.:c", "http://example.org/a./b.:c"),
        ("http://./", "http://./"),
    ],
)
def test_normal_form(url, want):
    assert normalise(url) == want


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a",
        "//example.org/",
        "http://",
        "http:///",
        "ftp://example.org/",
        "javascript:void(0)",
        "mailto:a@b.c",
        "data:text/html,x",
        "file:///etc/passwd",
        "http://a b/",
        "http://example.org:99999/",
        "http://[::1/",
        "\ud800",
    ],
)
def test_what_cannot_be_asked(url):
    assert normalise(url) is None


def test_relative_to_a_base():
    assert normalise("../c", "http://example.org/a/b/") == "http://example.org/a/c"
    assert normalise("?x", "http://example.org/a/b?y") == "http://example.org/a/b?x"
    assert normalise("//other.example", "https://example.org/") == "https://other.example/"
    assert normalise("a", "not a base") is None
    assert normalise("a", "mailto:x@example.org") is None


def test_resolve_is_distinct_and_in_order():
    hrefs = ["b", "a", "b#x", "./a", "", "#top", "mailto:x", "http://[", "b?q", "/é", " b "]
    want = ["b", "a", "", "b?q"]
    got = resolve("http://u:p@example.org/", hrefs)
    assert got == [f"http://example.org/{path}" for path in want] + ["http://example.org/%C3%A9"]


def test_resolve_without_a_base_finds_nothing():
    assert resolve("nonsense", ["http://example.org/"]) == []


def test_white_space_before_a_fragment_stays():
    assert resolve("http://example.org/", ["a #b"]) == [normalise("a #b", "http://example.org/")]
    assert normalise("a #b", "http://example.org/") == "http://example.org/a%20"


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://a/", ("a", "http://a", "/")),
        ("https://a.example:8443/b?c/d", ("a.example", "https://a.example:8443", "/b?c/d")),
        ("http://[2001:db8::1]/x", ("[2001:db8::1]", "http://[2001:db8::1]", "/x")),
        ("https://[2001:db8::1]:1/?", ("[2001:db8::1]", "https://[2001:db8::1]:1", "/?")),
    ],
)
def test_parts(url, parts):
    assert (hostname(url), origin(url), path_query(url)) == parts


PIECES = st.sampled_from(["a", "/", "//", ".", "..", "?", "#", "%41", "%", "é", "@", ":", "\\", " ", "\t", "x.example"])


@given(st.lists(PIECES, max_size=8).map("".join))
def test_normal_forms_stay_as_they_are(tail):
    url = normalise(tail, "http://example.org/a/b?c")
    if url is not None:
        assert normalise(url) == url
        assert url.isascii()
        assert "#" not in url
        assert origin(url) + path_query(url) == url
        assert resolve("http://example.org/a/b?c", [tail]) == [url]


@given(
    page=st.sampled_from(
        ["http://a.example/x/y", "http://a.example/x/z?q=1", "http://a.example/", "https://a.example/x/"]
    ),
    hrefs=st.lists(
        st.sampled_from(
            ["b", "../c", "/d", "?e", "", ".", "./f?g", "//h.example/i", "j:k", "http://l.example", " m", "\t?n", "é"]
        )
    ),
)
def test_what_is_remembered_of_a_folder_is_what_each_page_says(page, hrefs):
    expected = dict.fromkeys(url for url in (normalise(href, page) for href in hrefs) if url is not None)
    assert resolve(page, hrefs) == list(expected)
    assert resolve(page, hrefs) == list(expected)
