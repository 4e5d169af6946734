"""Which words stand in which link: the compiled scan against the tree of the HTML standard."""

import time
from collections import defaultdict
from itertools import pairwise

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.parse.html import read
from evercrawl.parse.scan import scan
from evercrawl.parse.tree import links

URL = "http://example.org/dir/page"
MOST_BYTES = 200

scan(b"", 1)  # compiled here, before any deadline runs


def words(source, content_type="", url=URL):
    """Return the links with words of a page: where they lead, below its folder, and what they say."""
    page = read(source.encode() if isinstance(source, str) else source, url, content_type)
    assert page.utf8.decode("utf-8", "replace") == page.text
    return [
        (page.targets[target].removeprefix("http://example.org/dir/"), page.utf8[start:end].decode())
        for start, end, target in page.anchors.tolist()
    ]


def squashed(text):
    return "".join(text.split())


def gathered(pairs):
    """Return the words of each target put together, for a tree may have torn a link into several."""
    together = defaultdict(str)
    for target, said in pairs:
        together[target] += squashed(said)
    return {target: said for target, said in together.items() if said}


def by_scan(source):
    found = scan(source.encode(), 1000)
    text = found.text
    spans = found.spans.tolist()
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    for start, end, _ in spans:
        assert text[start:end].decode().strip() == text[start:end].decode() != ""
    return gathered((found.hrefs[link], text[start:end].decode()) for start, end, link in spans)


def by_tree(source):
    tree = turbohtml.parse(source)
    for name in ("template", "script", "style", "title", "noscript"):
        tree.remove(name)
    found = [(element.attr("href"), element.text) for element in tree.find_all("a")]
    return gathered((href, said) for href, said in found if href is not None)


PIECES = [
    *("one", "two", "é", "漢", "&amp;", "&lt", "&#x41;", "&nbsp;", "<", ">", "</p>", "<p>", "<div>", "</div>", "<b>"),
    *("</b>", "<br>", "<i>", "</i>", "<li>", "<h1>", "</h1>"),
    *("<!-- <a href=x> -->", "<script>a</a></script>", "<style></a></style>", "<title></a>t</title>", " ", "\n"),
    *("<template>", "</template>", "<noscript>hidden</noscript>", "<svg></svg>"),
    *("<a href=1>", "<A HREF='2'>", "<a\nhref = 3 >", "<a href=&#x34;>", "<a>", "<a name=x>"),
    *("</a>", "</A >", "</a>", "</a x=y>"),
]
SOUP = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@settings(max_examples=400, deadline=None)
@given(SOUP)
def test_soup(soup):
    source = f"<!doctype html><body>{soup}"
    assert by_scan(source) == by_tree(source)


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("x <a href=1> one \n<b>two</b>  </a> y", [("1", "one two")]),
        ("x<a href=1>one</a>y", [("1", "one")]),
        ("<a href=1>one<a href=2>two</a>three", [("1", "one"), ("2", "two")]),
        ("<a href=1>one<a name=x>two</a>", [("1", "one")]),
        ("<a href=1>one<p>two<div>three</div></a>four", [("1", "one two three")]),
        ("<a href=1>one", [("1", "one")]),
        ("<a href=1>one <a hr", [("1", "one")]),
        ("<a href=1>R&amp;D &#8364;</a>", [("1", "R&D €")]),
        ("<a href=1>&nbsp;one&nbsp;</a>", [("1", "one")]),
        ("<a href=1> </a><a href=2><img></a><a href=3>&nbsp;</a>", []),
        ("<a href=1>one</a><a href=1#x>two</a><a href=2>three</a>", [("1", "one"), ("1", "two"), ("2", "three")]),
        ("<a href=1>o<template>x</a><a href=2>y</a></template>n</a>e", [("1", "on")]),
        ("<a href=1>one<noscript>two</noscript>three</a>", [("1", "onethree")]),
        ("<a href=mailto:x>one</a><a href=2>two</a>", [("2", "two")]),
        ("<a href=1><iframe src=3>x</iframe>one</a><a href=2>two</a>", [("1", "one"), ("2", "two")]),
        ("<a href=1>one<area href=2>two</a>", [("1", "onetwo")]),
        ("<area href=1>one", []),
        ("<plaintext><a href=1>one", []),
        ("<textarea><a href=1></textarea>one", []),
    ],
)
def test_words(source, want):
    assert words(source) == want


def test_links_that_the_page_does_not_vouch_for_say_nothing():
    assert words("<a href=1 rel=nofollow>one</a><a href=2 rel='x UGC'>two</a><a href=1 rel=sponsored>three</a>") == []
    assert words("<a href=1 rel=nofollow>one</a><a href=1>two</a>") == [("1", "two")]
    assert words("<a href=1>one<a href=2 rel=nofollow>two</a>") == [("1", "one")]
    assert words("<meta name=robots content=nofollow><a href=1>one</a>") == []


def test_what_a_page_says_of_itself_is_not_said_of_it():
    assert words("<a href=#top>top</a><a href=page>me</a><a href=1>one</a><a href=/dir/page#x>x</a>") == [("1", "one")]
    assert words("<base href=/dir/other><a href=#top>top</a>") == [("other", "top")]


def test_a_page_without_text_asked_for_has_none():
    page = read(b"<a href=1>one</a>", URL, text=False)
    assert (page.text, page.utf8, page.anchors.shape) == ("", b"", (0, 3))


def test_xhtml_closes_links_by_a_slash():
    assert words("<a href='1'/>one", "application/xhtml+xml") == []
    assert words("<a href='1'/>one") == [("1", "one")]
    assert words("<svg><a href='1'/><text>one</text></svg>") == []


def test_words_of_another_encoding():
    source = "<p>é <a href='?п'>ссылка 漢</a>"
    assert words("\ufeff".encode("utf-16le") + source.encode("utf-16le")) == [("page?%D0%BF", "ссылка 漢")]
    cyrillic = "<p>ё <a href=1>ссылка</a> <a href='?п'>две</a>".encode("koi8-r")
    assert words(cyrillic, "text/html; charset=koi8-r") == [("1", "ссылка"), ("page?%D0", "две")]


def test_long_words_are_cut_between_words():
    assert words("<a href=1>" + "word " * 100 + "</a>") == [("1", " ".join(["word"] * 40))]
    assert words("<a href=1>" + "w" * 200 + "</a>") == [("1", "w" * 200)]
    assert words("<a href=1>" + "w" * 201 + "</a>") == [("1", "w" * 200)]
    assert words("<a href=1>" + "w" * 200 + " x</a>") == [("1", "w" * 200)]
    assert words("<a href=1>x" + "漢" * 100 + "</a>") == [("1", "x" + "漢" * 66)]


@pytest.mark.parametrize(
    ("source", "want"),
    [
        (b"\xc3<a href=1>\xa9 one</a>", "one"),
        (b"<a href=1>one \xc3</a>\xa9", "one"),
        (b"<a href=1>one \xf0\x9f\x98</a>\x80", "one"),
        (b"<a href=1>one \xe2\x82\xac</a>\x80", "one €"),
    ],
)
def test_characters_that_a_tag_cuts_in_two_are_left_out(source, want):
    assert words(b"<meta charset=utf-8>" + source) == [("1", want)]


def test_words_of_links_that_say_the_same_come_to_the_same_target():
    hrefs = [f"{i % 700}/{i % 7}" for i in range(2_100)]
    source = "".join(f"<a href='{href}'>to {href}</a> " for href in hrefs)
    assert words(source) == [(href, f"to {href}") for href in hrefs]


def test_no_more_links_than_asked():
    found = scan(b"<a href=a>one<a href=b>two<a href=c>three", 2)
    assert (found.hrefs, found.spans.tolist()) == (["a", "b"], [[0, 3, 0], [3, 6, 1]])
    assert scan(b"<a href=a>one", 0).spans.shape == (0, 3)


PLAIN = [
    "<a href=1>The <b>one</b>\n link</a> <a name=x>none</a> <a href=2></a> <a href=../3>three &amp; more</a>",
    "<ul><li><a href=1>first</a><li><a href=2><h2>second</h2><p>link</p></a></ul><table><tr><td><a href=3>x</table>",
]


@pytest.mark.parametrize("source", PLAIN)
def test_links_of_the_tree_say_the_same(source):
    page = read(source.encode(), URL)
    found = [(page.targets[target], page.utf8[start:end].decode()) for start, end, target in page.anchors.tolist()]
    assert found == [(link.target, link.anchor) for link in links(source.encode(), URL) if link.anchor]


MIB = 1 << 20
HOSTILE = {
    "unclosed links": b"<a href=x>y",
    "unclosed links alike": b"<a href=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx>",
    "links in links": b"<div><a href=x>y<p>",
    "closed only": b"</a>",
    "continuations": b"<a href=x>" + b"\x80" * 1000,
    "one long link": b"w",
    "one long character": b"\x80",
    "spaces in links": b"<a href=x>" + b" " * 1000 + b"y",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_links_cost_no_more_than_others(name):
    unit = HOSTILE[name]
    body = b"<meta charset=utf-8><a href=x>" + (unit * (8 * MIB // len(unit)))
    start = time.process_time()
    page = read(body, URL)
    assert time.process_time() - start < 2.0
    starts, ends = page.anchors[:, 0], page.anchors[:, 1]
    assert len(page.anchors) <= 10_000
    assert (starts < ends).all()
    assert (ends - starts <= MOST_BYTES).all()
    assert (ends <= len(page.utf8)).all()


@given(st.binary(max_size=300))
def test_any_bytes_will_do(data):
    found = scan(b"<a href=x>" + data, 10)
    assert all(0 <= start < end <= len(found.text) and link < len(found.hrefs) for start, end, link in found.spans)


@given(
    st.lists(st.sampled_from([b"<a href=x>", b"</a>", b"<b>", b"y", b" ", b"\xc3", b"\xa9", b"\xe2\x82", b"\xf0\x9f"]))
)
def test_spans_hold_whole_characters(pieces):
    found = scan(b"".join(pieces), 10)
    text = found.text
    for start, end, _ in found.spans.tolist():
        assert text[start] & 0xC0 != 0x80
        assert text[end - 1] != 32
        assert text[start:end].decode("utf-8", "replace") in text.decode("utf-8", "replace")
