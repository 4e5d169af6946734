"""The compiled scan against a parser that builds the tree of the HTML standard."""

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.parse.scan import SMALL_BYTES, scan

scan(b"", 1)  # compiled here, before any deadline runs


def text(source):
    return scan(source.encode(), 100).text.decode()


def squashed(words):
    return "".join(words.split())


def by_tree(source):
    """Return links and text without white space, from a tree."""
    tree = turbohtml.parse(source)
    tree.remove("template")
    hrefs = [element.attr("href") for element in tree.find_all(["a", "area"])]
    for name in ("script", "style", "title", "noscript"):
        tree.remove(name)
    return [href for href in hrefs if href is not None], squashed(tree.text)


WORDS = """one two é 漢 &amp; &lt &copy= &copyx; &#x41; &#128; &#0; & &nosuch; &NotEqualTilde; < << </ <> <3 <! <!x> >
- -- <p> </p> <div> </div> <b> </b> <i/> <br> <br/> <hr> <x-y> <!-- --> <!--> <!---> <!--x--!> --!>
<a/href=m> <a> </a> <script> </script> <script>a<b</script> <script><!--<script></script>--></script> </scripty>
<style> <textarea> </textarea> <title> </title> <template> </template>"""
PIECES = [
    *WORDS.split(),
    *(" ", "\n", "\u00a0", "< a>", "</ >", "<?php a>b ?>", "<div class='a>b'>", "</style >", "</TITLE\n>"),
    *("<a href=a>", "<A HREF='b c'>", '<a\nhref = "d&amp;e&copy=1&copy;">', "<a href>", "<a x=1 href=f/g HREF=h>"),
    *("<area href=i>", "<a href=j/>", "<a =href=k>", "<a href='l", "<a href=n&#x6F;>", '<a title="<a href=q>">'),
    "<!-- <a href=r> -->",
]
SOUP = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@settings(max_examples=400, deadline=None)
@given(SOUP)
def test_soup(soup):
    source = f"<!doctype html><body>{soup}"
    hrefs, words = by_tree(source)
    found = scan(source.encode(), 1000)
    want = [href.replace("\n", "").strip().split("#")[0] for href in hrefs]
    assert set(found.hrefs) == set(want)
    assert squashed(found.text.decode()) == words


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("a<div>b</div>c", "a b c"),
        ("a<b>b</b>c<br>d", "abc d"),
        ("<td>1<td>2", "1 2"),
        ("<option>1<option>2", "1 2"),
        ("  a \t\n b  ", "a b"),
        ("a&nbsp;&#8195;\u3000\u2009b&#10;", "a b"),
        ("a<script>x</script><style>y</style><template>z</template><noscript>w</noscript>b", "ab"),
        ("<title>t</title>a<iframe>x</iframe>b", "a b"),
        ("a<svg><title>t</title><style/><path d=''/></svg>b", "a t b"),
        ("<svg><![CDATA[a]]>b</svg>", "a]]>b"),
        ("<![CDATA[a]]>b", "b"),
        ("<textarea>a <b> &amp;</textarea>", "a <b> &"),
        ("<plaintext>a <b>", "a <b>"),
        ("a\0b", "ab"),
        ("1 < 2 &lt; 3 <4", "1 < 2 < 3 <4"),
        ("a<", "a<"),
        ("a</", "a</"),
        ("a<b", "a"),
    ],
)
def test_text(source, want):
    assert text(source) == want


def test_xhtml_closes_elements_by_a_slash():
    source = b"<script src='x'/><p>a<a href='b'/>"
    assert scan(source, 10).hrefs == []
    assert scan(source, 10, xml=True).hrefs == ["b"]
    assert scan(source, 10, xml=True).text == b"a"


def test_links_that_are_not_to_be_followed_are_left_out():
    source = b"<a href=a rel='me NoFollow'><a href=b rel=nofollower><a href=c rel=ugc><area href=d rel=nofollow>"
    assert scan(source, 10).hrefs == ["b", "c"]


def test_links_in_templates_are_none_and_in_noscript_are_some():
    assert scan(b"<template><a href=a></a><base href=x></template><noscript><a href=b></noscript>", 10).hrefs == ["b"]
    assert scan(b"<template><base href=x></template><base href=y><base href=z>", 10).base == "y"


def test_frames_link():
    assert scan(b"<iframe src=a><a href=b></iframe><frameset><frame src=c>", 10).hrefs == ["a", "c"]


def test_no_more_links_than_asked():
    assert scan(b"<a href=a><a href=b><a href=c>", 2).hrefs == ["a", "b"]


def test_a_link_longer_than_any_url_is_left_out():
    assert scan(b"<a href=" + b"a" * 8193 + b"><a href=b>", 10).hrefs == ["b"]


def test_what_the_head_says():
    found = scan(
        b"<html lang=en-GB><title>A &amp; B</title><title>C</title><link rel='x canonical' href=c><base target=t>"
        b"<meta name=Robots content=noindex><meta name=googlebot content=none><meta name=evercrawl content=nofollow>"
        b"<meta http-equiv=Refresh content='0; url=r'><html lang=de>",
        10,
    )
    assert (found.title, found.language, found.base, found.canonical) == ("A & B", "en-GB", "", "c")
    assert found.robots == ["noindex", "nofollow"]
    assert found.refresh == "0; url=r"


@given(st.binary(max_size=300))
def test_any_bytes_will_do(data):
    found = scan(data, 10)
    assert len(found.text) <= 2 * len(data)


@given(
    st.lists(
        st.sampled_from(
            [b"<", b"a", b"href", b"=", b"'", b" ", b">", b"/", b"&nGt;", b"&#0", b"\0", b"\xc2", b"\xe2\x80"]
        )
    )
)
def test_any_pieces_will_do(pieces):
    scan(b"<a href='" + b"".join(pieces), 10)


def test_repeated_links_count_once_on_long_pages_too():
    body = b"".join(b"<p>and so on <a href='p%d#%d'>word</a>" % (i * 7919 % 423, i) for i in range(20_000))
    found = scan(body, 423)
    assert len(body) > SMALL_BYTES
    assert (sorted(found.hrefs), found.cut) == (sorted(f"p{i}" for i in range(423)), 0)
    assert scan(body, 400).hrefs == found.hrefs[:400]
    assert scan(body, 400).cut >= 23


def test_what_is_left_out_is_counted():
    assert scan(b"<a href=a><a href=b><a href=a><a href=cc><a href=dd>", 2).cut == 2
    assert scan(b"<a href=a rel=ugc><a href=b rel=ugc><a href=c rel=nofollow><a href=d>", 2).cut == 1


def test_links_of_one_length_that_are_left_out_are_all_counted():
    found = scan(b"".join(b"<a href=%03d>" % i for i in range(300)), 10)
    assert (len(found.hrefs), found.cut) == (10, 290)


HEAD = b"<!doctype html><html><head><title>A</title>"
IN_HEAD = [
    b"", b"<html>", b"<head>", b"<!-- <p> --><base href=b>", b"<meta name=a><style>p{}</style><script>'<p>'</script>",
    b"<noscript><iframe src=x></iframe></noscript>", b"<template><p>text</template>", b" \n\t", b"</p></head> ",
    b"<HEAD><bgsound><basefont>", b"<noframes><p>old</noframes>",
]  # fmt: skip
IN_BODY = [
    b"<body>", b"<p>", b"<div hidden>", b"text", b"&amp;", b"<a href=b></a>", b"<svg><title>x</title></svg>", b"<img>",
    b"<textarea></textarea>", b"<h1></h1>", b"<iframe></iframe>", b"<b>", b"<made-up>", b"</head><body><!-- -->",
    b"<form><input>",
]  # fmt: skip


@pytest.mark.parametrize("before", IN_HEAD)
def test_a_canonical_url_counts_in_the_head(before):
    assert scan(before + b"<link rel=canonical href=c>", 10).canonical == "c"
    assert scan(HEAD + before + b"<link rel=canonical href=c>", 10).canonical == "c"


@pytest.mark.parametrize("before", IN_BODY)
def test_a_canonical_url_below_the_head_is_anybodys(before):
    found = scan(HEAD + before + b"<link rel=canonical href=c><link rel=alternate type=application/rss+xml href=f>", 10)
    assert (found.canonical, found.feeds) == ("", ["f"])
