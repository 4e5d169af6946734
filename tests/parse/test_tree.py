"""Links with their words, and Markdown."""

import pytest

from evercrawl.parse.html import links, markdown, read
from evercrawl.types import Link

URL = "http://example.org/dir/page"


def test_every_link_with_rel_and_anchor():
    body = (
        b"<base href=/b/><a href=one>The <b>one</b>\n link</a><a name=x>none</a><a href=two rel='NoFollow  ugc'></a>"
        b"<template><a href=t>t</a></template><a href=three><img alt=picture></a><map><area href=four></map>"
        b"<iframe src=five></iframe><a href=mailto:x>six</a><a href=one#top>again</a>"
    )
    assert links(body, URL) == [
        Link("http://example.org/b/one", "", "The one link"),
        Link("http://example.org/b/two", "nofollow ugc", ""),
        Link("http://example.org/b/three", "", "picture"),
        Link("http://example.org/b/four", "", ""),
        Link("http://example.org/b/five", "", ""),
        Link("http://example.org/b/one", "", "again"),
    ]
    followed = [link.target for link in links(body, URL) if "nofollow" not in link.rel]
    assert list(dict.fromkeys(followed)) == read(body, URL).targets


def test_no_more_links_than_asked():
    assert len(links(b"<a href=a>" * 50, URL, limit=7)) == 7


def test_markdown():
    body = (
        b"<title>T</title><h2>Head</h2><script>x</script><ul><li>a <a href='../b'>b</a><li>c</ul><noscript>n</noscript>"
    )
    assert markdown(body, URL).split("\n") == ["## Head", "", "- a [b](http://example.org/b)", "- c"]


def test_deep_pages_and_broken_bytes_do_not_fail():
    body = b"<div><b>" * 100_000 + b"x\xff<a href='\xed\xa0\x80'>y</a>\0"
    assert "x" in markdown(body, URL)
    assert markdown(body, URL, "text/html; charset=utf-8").encode()
    assert len(links(body, URL)) == 1


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)", " JavaScript:alert(1)", "java\nscript:alert(1)", "\x01javascript:x",
        "data:text/html,<script>x", "DATA:text/html;base64,AAAA", "vbscript:x", "file:///etc/passwd", "about:blank",
        "blob:http://a/b", "mailto\n:x",
        "javascript&colon;alert(1)", "&#106;avascript:alert(1)", "view-source:http://a/", "intent://x", "http://[",
    ],
)  # fmt: skip
def test_markdown_links_to_nothing_but_pages_addresses_and_numbers(link):
    page = f"<p>one <a href='{link}'>two</a> <img src='{link}' alt='three'> <a href='/x'>four</a>".encode()
    said = markdown(page, "http://a.example/")
    if "http://a.example/" in said.partition("two")[2].partition("three")[0]:  # it was a relative link, in spite of all
        return
    assert said == "one two three [four](http://a.example/x)"


def test_markdown_keeps_mail_addresses_and_telephone_numbers():
    page = b"<a href='mailto:a@b.example'>write</a> <a href='TEL:+1-2'>call</a>"
    assert markdown(page, "http://a.example/") == "[write](mailto:a@b.example) [call](TEL:+1-2)"
