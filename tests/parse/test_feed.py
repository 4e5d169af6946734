"""Feeds of each kind."""

import pytest

from evercrawl.parse.listings.feed import MAX_ENTRIES, is_feed, links_of_feed, read_feed

AT = "http://example.org/news/feed.xml"

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>News</title><link>http://example.org/news/</link>
<atom:link rel="self" href="http://example.org/news/feed.xml?x=1&amp;y=2"/>
<image><link>http://example.org/logo</link></image>
<item><title>A</title><link>a</link><guid isPermaLink="false">http://example.org/no</guid>
  <pubDate>Sun, 06 Sep 2009 16:20:00 +0000</pubDate><comments>http://example.org/a#comments</comments>
  <media:thumbnail url="http://example.org/t.png"/><source url="http://b.example/">b</source></item>
<item><guid>http://example.org/b</guid><dc:date>2024-05-01</dc:date></item>
<item><guid>tag:b,1</guid><pubDate>2024</pubDate></item>
<item><link>javascript:alert(1)</link></item>
<item><link>http://example.org/<![CDATA[?q=a&l=fr]]></link><description>&lt;a href="/no">&nbsp;</description></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://example.org/blog/">
<link rel="self" href="atom.xml"/><link href="."/><link rel="next" href="?page=2"/>
<entry xml:base="2024/"><id>tag:1</id><link rel="replies" href="r"/><link rel="alternate" href="one"/>
  <published>2024-01-01T00:00:00Z</published><updated>2024-02-01T00:00:00Z</updated>
  <source><link href="http://b.example/"/><updated>1999</updated></source>
  <content type="xhtml"><div><a href="/no">x</a></div></content></entry>
<entry><link href="two"/><published>2024-03-01T00:00:00Z</published></entry>
<entry><id>http://example.org/only-an-id</id></entry>
</feed>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="x"><link>http://example.org/</link><items><rdf:Seq/></items></channel>
<item rdf:about="a"><link>/a</link><dc:date>2024-05-01T10:00+02:00</dc:date></item>
</rdf:RDF>"""


def test_rss_2():
    feed = read_feed(RSS.encode(), AT)
    assert feed.entries == [
        ("http://example.org/news/a", "Sun, 06 Sep 2009 16:20:00 +0000"),
        ("http://example.org/b", "2024-05-01"),
        ("http://example.org/?q=a&l=fr", ""),
    ]
    assert (feed.own, feed.home, feed.trouble) == (f"{AT}?x=1&y=2", "http://example.org/news/", "")


def test_atom_with_bases():
    feed = read_feed(ATOM.encode(), AT)
    assert feed.entries == [
        ("http://example.org/blog/2024/one", "2024-02-01T00:00:00Z"),
        ("http://example.org/blog/two", "2024-03-01T00:00:00Z"),
    ]
    assert (feed.own, feed.home) == ("http://example.org/blog/atom.xml", "http://example.org/blog/")


def test_atom_with_a_prefix():
    prefixed = ATOM.replace("</", "\0").replace("<", "<atom:").replace("\0", "</atom:").replace("xmlns=", "xmlns:atom=")
    assert read_feed(prefixed.encode(), AT).entries == read_feed(ATOM.encode(), AT).entries


def test_rss_1():
    feed = read_feed(RDF.encode(), AT)
    assert (feed.entries, feed.home) == (
        [("http://example.org/a", "2024-05-01T10:00+02:00")],
        "http://example.org/",
    )


def test_links_are_entries_then_home_each_once():
    twice = RSS.replace("<item><guid>http://example.org/b", "<item><link>a</link><guid>http://example.org/b")
    assert links_of_feed(twice.encode(), AT) == [
        "http://example.org/news/a", "http://example.org/?q=a&l=fr", "http://example.org/news/",
    ]  # fmt: skip


def test_a_broken_feed_yields_what_stands_before_the_fault():
    feed = read_feed(RSS.replace("javascript:", "<&").encode(), AT)
    assert [entry.url for entry in feed.entries] == ["http://example.org/news/a", "http://example.org/b"]
    assert feed.trouble.startswith("broken: ")


RSS_0_91 = '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/rss-0.91.dtd">'


@pytest.mark.parametrize("doctype", ["<!DOCTYPE rss>", RSS_0_91])
def test_a_feed_of_a_standard_document_type_is_read(doctype):
    feed = read_feed(f"{doctype}{RSS[21:]}".encode(), AT)
    assert (feed.entries, feed.trouble) == (read_feed(RSS.encode(), AT).entries, "")


def test_a_document_type_that_may_declare_entities_is_refused_and_other_xml_says_nothing():
    for doctype in ("<!DOCTYPE rss SYSTEM 'rss.dtd'>", f"{RSS_0_91[:-1]} [<!ENTITY a 'b'>]>"):
        assert read_feed(f"{doctype}{RSS[21:]}".encode(), AT).trouble.startswith("doctype: ")
    other = read_feed(b"<svg><a href='/x'/><item><link>/x</link></item></svg>", AT)
    assert (other.entries, other.home, other.trouble) == ([], "", "other: the root is svg")


def test_entries_have_a_ceiling():
    body = b"<rss>" + b"<item><link>/x</link></item>" * (MAX_ENTRIES + 5) + b"</rss>"
    assert len(read_feed(body, AT).entries) == MAX_ENTRIES


@pytest.mark.parametrize(("body", "mime", "feed"), [
    (RSS, "text/xml", True), (ATOM, "application/xml", True), (RDF, "application/xml", True),
    (f"<!-- <urlset> -->{RSS[21:]}", "text/xml", True), ("", "application/rss+xml", True),
    ("<urlset/>", "application/xml", False), (RSS, "text/plain", False), ("", "", False), ("<", "text/xml", False),
    ("<html><feed>", "text/xml", False),
])  # fmt: skip
def test_what_is_a_feed(body, mime, feed):
    assert is_feed(body.encode(), mime) is feed


def test_utf_16_is_seen_through():
    assert is_feed(RSS.encode("utf-16"), "text/xml")
    assert links_of_feed(RSS.replace('<?xml version="1.0"?>', "").encode("utf-16"), AT) == links_of_feed(
        RSS.encode(), AT
    )


def test_titles_and_language_are_those_of_the_feed_and_its_entries():
    rss = read_feed(RSS.encode(), AT)
    assert rss.titles[0] == "A"
    picture = b"<rss><channel><image><title>not this</title></image><title>T &amp;amp; <![CDATA[<i>x</i>]]></title>"
    picture += b"<language>de-AT</language><item><title>one</title><link>/a</link></item></channel></rss>"
    feed = read_feed(picture, AT)
    assert (feed.title, feed.language, feed.titles[0]) == ("T & x", "de-AT", "one")
    atom = read_feed(b"<feed xml:lang='fr'><title>F</title><entry><title>E</title><link href='/b'/></entry></feed>", AT)
    assert (atom.title, atom.language, atom.text) == ("F", "fr", "F\nE")
    assert atom.markdown == "# F\n\n- [E](http://example.org/b)"
