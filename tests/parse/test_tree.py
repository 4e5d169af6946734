"""Links with their words, and Markdown."""

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
