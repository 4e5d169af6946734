"""Sitemaps in every form that sites serve, and files that are made to do harm."""

import gzip
import tracemalloc
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.parse.listings.ampersands import Ampersands
from evercrawl.parse.listings.sitemap import MAX_URL_CHARS, MAX_URLS, SitemapReader, may_list, read_sitemap
from evercrawl.parse.listings.xml_reader import MAX_DEPTH, MAX_NAMES, MAX_QUIET_CHARS
from evercrawl.parse.pieces import MAX_BYTES, PIECE_BYTES, texts

AT = "http://example.org/sitemap.xml"
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
ONE = f"<urlset {NS}><url><loc>http://example.org/a</loc><lastmod>2024-05-01</lastmod></url></urlset>"
A = ("http://example.org/a", "2024-05-01")


def read(text, content_type=""):
    return read_sitemap(text if isinstance(text, bytes) else text.encode(), AT, content_type)


def steps(body):
    """Read a body, and return how many pieces it took and the sitemap."""
    reader = SitemapReader(body, AT)
    for taken in count(1):
        if not reader.step():
            return taken, reader.sitemap
    raise AssertionError


# Forms


@pytest.mark.parametrize("text", [
    ONE,
    f"\n  <?xml version='1.0'?>\n{ONE.replace(NS, '')}",
    ONE.replace(NS, "").replace("<", "<sm:").replace("<sm:/", "</sm:"),
    ONE.replace(NS, 'xmlns="http://www.google.com/schemas/sitemap/0.84"'),
    ONE.replace("http://example.org/a", "\n <![CDATA[ http://example.org/a ]]>\n"),
    ONE.replace("http://example.org/a", "HTTP://user:pw@EXAMPLE.org:80/x/../a#top"),
    ONE.replace("http://example.org/a", "/a"),
], ids=["plain", "space in front", "prefixed", "old namespace", "cdata", "odd", "relative"])  # fmt: skip
def test_one_page_however_written(text):
    found = read(text)
    assert (found.kind, found.pages, found.children, found.trouble) == ("urlset", [A], [], "")


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1"])
def test_encodings(coding):
    declared = f"<?xml version='1.0' encoding='{coding.removesuffix('-sig')}'?>"
    body = (declared + ONE.replace("/a<", "/caf\xe9<")).encode(coding)
    assert [page.url for page in read(body).pages] == ["http://example.org/caf%C3%A9"]


def test_the_header_names_the_encoding_where_the_file_does_not():
    body = ONE.replace("/a<", "/я<").encode("koi8-r")
    assert read(body, "text/xml; charset=koi8-r").pages[0].url == "http://example.org/%D1%8F"


def test_what_calls_itself_utf_16_and_is_not_is_read_all_the_same():
    assert read(f'<?xml version="1.0" encoding="utf-16"?>{ONE}').pages == [A]


def test_an_index_lists_sitemaps():
    found = read(f"<sitemapindex {NS}><sitemap><loc>{AT}.gz</loc><lastmod>2024</lastmod></sitemap></sitemapindex>")
    assert (found.kind, found.pages, found.children) == ("index", [], [(f"{AT}.gz", "2024")])


def test_locations_of_images_and_of_elements_unknown_are_not_pages():
    extra = "<image:image><image:loc>http://example.org/i.png</image:loc></image:image><x><loc>http://example.org/x</loc></x>"
    assert read(ONE.replace("</url>", f"{extra}</url>")).pages == [A]


@pytest.mark.parametrize("body", [
    b"http://example.org/a\r\nftp://example.org/\n\n  http://example.org/b  \nwords\nhttp://exa mple.org/",
    b"\xef\xbb\xbfhttp://example.org/a\nhttp://example.org/b",
    gzip.compress(b"http://example.org/a\nhttp://example.org/b\n", mtime=0),
])  # fmt: skip
def test_a_list_in_plain_text(body):
    found = read(body)
    assert (found.kind, [page.url for page in found.pages]) == (
        "text",
        ["http://example.org/a", "http://example.org/b"],
    )


def test_a_feed_serves_as_a_sitemap():
    found = read("<feed><entry><link href='/a'/><updated>2024-05-01</updated></entry></feed>")
    assert (found.kind, found.pages) == ("feed", [A])


def test_gzip_of_several_members_cut_or_damaged():
    whole = gzip.compress(ONE[:50].encode()) + gzip.compress(ONE[50:].encode())
    assert read(whole).pages == [A]
    many = f"<urlset>{''.join(f'<url><loc>/{i}</loc></url>' for i in range(MAX_URLS))}</urlset>".encode()
    packed = gzip.compress(many, mtime=0)
    assert 0 < len(read(packed[: len(packed) // 2]).pages) < MAX_URLS
    hurt = bytearray(packed)
    hurt[len(hurt) // 2 :] = b"\xff" * (len(hurt) - len(hurt) // 2)
    assert 0 < len(read(bytes(hurt)).pages) < MAX_URLS


@pytest.mark.parametrize(
    "body", [b"", b"\n", b"{}", b"<html><p>not here</html>", b"\x1f\x8bjunk", b"\x89PNG\r\n", b"<"]
)
def test_what_is_no_sitemap_lists_nothing(body):
    found = read(body)
    assert (found.kind, found.pages, found.children) == ("", [], [])


def test_what_stands_before_an_error_is_kept():
    found = read(ONE.replace("</urlset>", "<url><loc>http://example.org/?a=1<b</loc></url></urlset>"))
    assert found.pages == [A]
    assert found.trouble.startswith("broken: ")


def test_a_file_that_ends_early_says_so():
    assert read(ONE[:-5]).trouble.startswith("broken: ")


def test_a_sitemap_may_list_its_own_folder():
    at = "http://example.org/shop/sitemap.xml?page=/2"
    assert may_list(at, "http://example.org/shop/x/y")
    for url in (
        "http://example.org/",
        "http://example.org/shopping",
        "https://example.org/shop/",
        "http://b.example/shop/x",
    ):
        assert not may_list(at, url)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_read_in_pieces_or_whole_alike(body):
    packed = body.startswith(b"\x1f\x8b")
    assert "".join(texts(body)) == "".join(texts(body if packed else gzip.compress(body, mtime=0)))
    for wrapped in (body, ONE.encode().replace(b"2024-05-01", body)):
        read(wrapped)


# Harm


def laughs(levels):
    yield "<!ENTITY a0 'laughs'>"
    for level in range(1, levels):
        yield f"<!ENTITY a{level} '{f'&a{level - 1};' * 10}'>"


@pytest.mark.parametrize("doctype", [
    f"<!DOCTYPE urlset [{''.join(laughs(12))}]>",
    "<!DOCTYPE urlset [<!ENTITY a11 SYSTEM 'file:///etc/passwd'>]>",
    "<!DOCTYPE urlset SYSTEM 'http://127.0.0.1/evil.dtd'>",
])  # fmt: skip
def test_a_document_type_ends_the_reading(doctype):
    found = read(f"<?xml version='1.0'?>{doctype}<urlset><url><loc>http://example.org/&a11;</loc></url></urlset>")
    assert (found.pages, found.trouble.partition(":")[0]) == ([], "doctype")


def test_an_entity_that_nobody_declared_is_left_out():
    assert read(ONE.replace("/a<", "/&nbsp;a<")).pages == [A]


@pytest.mark.parametrize(("written", "query"), [
    ("?x=1&y=2", "?x=1&y=2"), ("?x=1&amp;y=2&z=3", "?x=1&y=2&z=3"), ("?&copy=1&", "?&copy=1&"), ("?&#x26;&#38;", "?&&"),
    ("?&#;&#x;&#xg;", "?&#;&#x;&#xg;".partition("#")[0]), ("?<![CDATA[x&y&amp;z]]>&w", "?x&y&amp;z&w"),
    ("?<![CDATA[x]]&]]>", "?x]]&"), (f"?&{'a' * 60};", f"?&{'a' * 60};"),
])  # fmt: skip
def test_an_ampersand_that_begins_no_reference_stands_for_itself(written, query):
    found = read(ONE.replace("/a<", f"/a{written}<").replace("</urlset>", "<url><loc>/b</loc></url></urlset>"))
    assert [page.url for page in found.pages] == [f"http://example.org/a{query}", "http://example.org/b"]
    assert found.trouble == ""


@given(st.lists(st.sampled_from(["&", "&amp;", "&#38", ";", "a", "<![CDATA[", "]", "]]>", "<b>", "</b>", "#", "x"])),
       st.integers(1, 9))  # fmt: skip
def test_pieces_of_any_length_have_their_ampersands_read_alike(tokens, chars):
    text = "".join(tokens)
    whole, cut = Ampersands(), Ampersands()
    expected = whole.escaped(text) + whole.rest()
    assert "".join(cut.escaped(text[at : at + chars]) for at in range(0, len(text), chars)) + cut.rest() == expected


SPACES = b" " * (10 << 20)
BOMBS = {  # name -> body, class of trouble, how much of it may be read (bytes)
    "gzip": (lambda: gzip.compress(b"<urlset>") + gzip.compress(SPACES) * 1000, "large", MAX_QUIET_CHARS),
    "gzip text": (lambda: gzip.compress(b"http://example.org/a") + gzip.compress(SPACES) * 1000, "", MAX_BYTES),
    "nesting": (lambda: b"<urlset>" + b"<a>" * (50 << 20 >> 2), "deep", 1),
    "comment": (lambda: b"<urlset><!--" + b"x" * (50 << 20), "large", MAX_QUIET_CHARS),
    "attributes": (lambda: b"<urlset " + b"".join(b"a%d='' " % i for i in range(1 << 18)), "large", MAX_QUIET_CHARS),
    "names": (lambda: b"<urlset>" + b"".join(b"<n%d/>" % i for i in range(1 << 18)), "many", 1),
    "elements": (lambda: b"<urlset>" + b"<a/>" * (12 << 20), "many", 4_000_000),
    "location": (lambda: b"<urlset><url><loc>http://example.org/" + b"x" * (50 << 20), "large", MAX_QUIET_CHARS),
    "line": (lambda: b"http://example.org/" + b"x" * (50 << 20), "", MAX_BYTES),
    "lines": (lambda: b"http://example.org/\n" + b"x\n" * (25 << 20), "many", 400_000),
}


@pytest.mark.parametrize("name", BOMBS)
def test_harm_is_read_no_further_than_it_takes_to_see_it(name):
    made, trouble, read_bytes = BOMBS[name]
    body = made()
    tracemalloc.start()
    taken, found = steps(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.trouble.partition(":")[0] == trouble
    assert len(found.pages) <= 1
    assert taken <= read_bytes / PIECE_BYTES + 3
    assert peak < 12 << 20


def test_more_urls_than_the_protocol_allows():
    body = b"<urlset>" + b"".join(b"<url><loc>/%d</loc></url>" % i for i in range(MAX_URLS + 10)) + b"</urlset>"
    found = read(body)
    assert len(found.pages) == MAX_URLS
    assert found.pages[-1].url == f"http://example.org/{MAX_URLS - 1}"
    assert found.trouble.startswith("many: ")
    reader = SitemapReader(body, AT, most_urls=3)
    while reader.step():
        pass
    assert len(reader.sitemap.pages) == 3


def test_urls_that_cannot_be_asked_for_are_left_out():
    long = "http://example.org/" + "x" * MAX_URL_CHARS
    locations = [
        "javascript:alert(1)",
        "data:text/html,x",
        "mailto:a@b.example",
        "file:///etc/passwd",
        "",
        long,
        "http://[",
    ]
    body = "".join(f"<url><loc>{location}</loc></url>" for location in locations)
    assert read(ONE.replace("</urlset>", f"{body}</urlset>")).pages == [A]


def test_a_date_is_kept_as_written_and_short():
    assert read(ONE.replace("2024-05-01", "9999-12-31")).pages[0].dated == "9999-12-31"
    assert len(read(ONE.replace("2024-05-01", "2" * 5000)).pages[0].dated) == 64


def test_depth_and_names_have_room_for_honest_files():
    inside = "".join(f"<n{i}>" for i in range(MAX_DEPTH - 2)) + "".join(
        f"</n{i}>" for i in reversed(range(MAX_DEPTH - 2))
    )
    found = read(ONE.replace("</url>", f"{inside}</url>"))
    assert found.pages == [A]
    assert MAX_NAMES > 1000
