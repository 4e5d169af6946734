"""What one page says."""

import html
import time

import pytest

from evercrawl.parse.encoding import decode
from evercrawl.parse.html import MAX_LINKS, MAX_TARGETS, read, read_text
from evercrawl.parse.simhash import simhash
from tests.helpers.hashing import HASHER

URL = "http://example.org/dir/page"


def test_a_page():
    page = read(
        b"<!doctype html><html lang=en_GB><head><meta charset=utf-8><title>\n A\xc2\xa0title </title>"
        b"<base href='/base/'><link rel=canonical href=me></head>"
        b"<body><h1>Head</h1><p>one <a href=x#y>two</a> <a href='?q=1&amp;r'>three</a> <a href=x>four</a>"
        b"<a href=mailto:x@example.org>five</a><a href=//other.example>six</a>",
        URL,
        "text/html",
        "de",
        hasher=HASHER,
    )
    assert page.title == "A title"
    assert page.text == "Head one two three fourfivesix"
    assert page.language == "en-GB"
    assert page.targets == [
        "http://example.org/base/x",
        "http://example.org/base/?q=1&r",
        "http://other.example/",
    ]
    assert page.canonical == "http://example.org/base/me"
    assert page.simhash == simhash(page.text, HASHER) != 0
    assert (page.noindex, page.nofollow, page.refresh, page.encoding) == (False, False, "", "utf-8")


def test_links_are_left_out_where_they_are_not_wanted():
    page = b"<title>A</title><a href=/b>b</a> <link rel=canonical href=/c> words"
    whole, bare = read(page, "http://a/", hasher=HASHER), read(page, "http://a/", links=False, hasher=HASHER)
    assert (bare.targets, bare.cut) == ([], 0)
    assert (bare.title, bare.words, bare.simhash, bare.utf8) == (whole.title, whole.words, whole.simhash, whole.utf8)


def test_nothing_is_a_page():
    page = read(b"", URL)
    assert (page.title, page.text, page.targets, page.simhash) == ("", "", [], 0)


@pytest.mark.parametrize(
    ("metas", "noindex", "nofollow"),
    [
        ("<meta name=robots content='NoIndex'>", True, False),
        ("<meta name=ROBOTS content='index,nofollow'>", False, True),
        ("<meta name=robots content='none'>", True, True),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", True, True),
        ("<meta name=evercrawl content='noindex, nofollow'>", True, True),
        ("<meta name=googlebot content=none>", False, False),
        ("<meta name=robots content='max-snippet:-1, all'>", False, False),
        ("<template><meta name=robots content=none></template>", False, False),
    ],
)
def test_robots(metas, noindex, nofollow):
    page = read(f"{metas}<a href=a>".encode(), URL)
    assert (page.noindex, page.nofollow) == (noindex, nofollow)
    assert bool(page.targets) is not nofollow


@pytest.mark.parametrize(
    ("content", "want"),
    [
        ("0; url=a", "a"),
        ("0;URL='a b'", "a%20b"),
        ('5 ; Url = "a" x', "a"),
        ("0,a", "a"),
        ("0 a", "a"),
        (".5;a", "a"),
        ("0;url='a", "a"),
        ("0;urla", "urla"),
        ("\t0\f;\nURL\r=\ta", "a"),
        ("0\u00a0;url=a", None),
        ("\u0665;url=a", None),
        ("\u00a00;url=a", None),
        ("0;\u00a0url=a", "%C2%A0url=a"),
        ("0;url", "url"),
        ('0;"a\'b"c', "a'b"),
        ("0", None),
        ("5;", None),
        ("a", None),
        ("x;url=a", None),
        ("0;url=mailto:x@example.org", None),
    ],
)
def test_refresh(content, want):
    page = read(f"<meta http-equiv=refresh content='{html.escape(content)}'>".encode(), URL)
    assert page.refresh == (f"http://example.org/dir/{want}" if want else "")


@pytest.mark.parametrize(
    ("page", "header", "want"),
    [
        ("<html lang=fr>", "de", "fr"),
        ("<html lang=''>", "de-AT, en", "de-AT"),
        ("<html lang='{{ lang }}'>", "", ""),
        ("<p lang=fr>", "", ""),
        ("<html>", "not a language", ""),
    ],
)
def test_language(page, header, want):
    assert read(page.encode(), URL, "", header).language == want


def test_a_base_that_is_none_does_not_count():
    assert read(b"<base href='mailto:x'><a href=a>", URL).targets == ["http://example.org/dir/a"]


def test_queries_go_out_in_the_encoding_of_the_page():
    page = read("<a href='/п?п=1&amp;x=漢'>".encode("koi8-r", "xmlcharrefreplace"), URL, "text/html; charset=koi8-r")
    assert page.targets == ["http://example.org/%D0%BF?%D0=1&x=%26%2328450%3B"]
    assert page.encoding == "koi8-r"
    assert read("<a href='?п'>".encode(), URL).targets == ["http://example.org/dir/page?%D0%BF"]


def test_text_of_another_encoding():
    assert read("<title>Заголовок</title><p>текст".encode("cp1251"), URL, "text/html; charset=cp1251").text == "текст"
    assert read("\ufeff<p>a".encode("utf-16le"), URL).text == "a"


def test_broken_bytes_are_fit_for_utf8():
    page = read(
        b"<meta charset=utf-8><title>a\xff\xed\xa0\x80</title><p>b\xff&#xD800;\0<a href='\xff\xed\xa0\x80'>", URL
    )
    assert page.title.encode()
    assert page.text == "b\ufffd\ufffd"
    assert [target.encode() for target in page.targets] == [b"http://example.org/dir/" + b"%EF%BF%BD" * 4]


def test_plain_text():
    page = read_text("één\n\ttwee <a href=x>".encode(), "text/plain; charset=utf-8", HASHER)
    assert (page.text, page.targets, page.encoding) == ("één twee <a href=x>", [], "utf-8")
    assert page.simhash == simhash(page.text, HASHER)
    assert read_text(b"one two").simhash == read_text(b"one two").words == 0  # nobody asked


MIB = 1 << 20
HOSTILE = {
    "nested": b"<div><b><a href=x><i>",
    "attributes": b"<p " + b"a=1 " * 1000,
    "links": b"<a href=/%d>x</a>",
    "open comments": b"<!--",
    "less than": b"<",
    "ampersands": b"&",
    "names": b"&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "quotes": b"<a href='\"",
    "scripts": b"<script><!--<script",
    "metas": b"<meta name=robots content=' , '>",
    "refresh": b"<meta http-equiv=refresh content=0" + b"0" * 1000,
    "spaces": b" ",
    "nuls": b"\0",
    "language": b"<html lang=a-a-a-a",
    "not utf-8": b"<a \xff",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_cost_no_more_than_others(name):
    read(b"<a href=x>", URL)
    unit = HOSTILE[name]
    body = (
        (unit * (4 * MIB // len(unit) + 1))[: 4 * MIB]
        if name != "links"
        else b"".join(unit % i for i in range(200_000))
    )
    start = time.process_time()
    page = read(body, URL)
    assert time.process_time() - start < 2.0
    assert len(page.targets) <= 10_000


def test_urls_count_once_however_often_and_in_whatever_way_they_are_written():
    hrefs = [f"{'./' * (i % 3)}{i * 7919 % MAX_TARGETS}#{i}" for i in range(3 * MAX_TARGETS)]
    page = read("".join(f"<p><a href='{href}'>word</a>" for href in hrefs).encode(), URL)
    assert sorted(page.targets) == sorted(f"http://example.org/dir/{i}" for i in range(MAX_TARGETS))
    assert page.cut == 0


def test_urls_beyond_the_cap_are_cut_and_counted_once_each():
    links = "".join(f"<a href={i}>{i}</a>" for i in range(MAX_TARGETS + 30))
    page = read((links + links).encode(), URL)
    assert page.targets == [f"http://example.org/dir/{i}" for i in range(MAX_TARGETS)]
    assert page.cut == 30
    assert page.anchors[:, 2].max() < MAX_TARGETS


def test_links_that_are_not_resolved_at_all_are_cut_too():
    links = "".join(f"<a href={i}>" for i in range(MAX_LINKS + 50))
    assert read(links.encode(), URL).cut == MAX_LINKS + 50 - MAX_TARGETS
    long = f"http://example.org/{'a' * 8_000}"
    page = read("".join(f"<a href=?{i}>" for i in range(600)).encode(), long)
    assert len(page.targets) + page.cut == 600


def test_nothing_is_cut_where_no_link_is_to_be_followed():
    links = "".join(f"<a href={i}>" for i in range(MAX_TARGETS + 30))
    assert read(("<meta name=robots content=nofollow>" + links).encode(), URL).cut == 0


@pytest.mark.parametrize(
    ("encoding", "query", "sent"),
    [
        ("koi8-r", b"q=\xc1-\xc2", "q=%C1-%C2"),
        ("shift_jis", b"q=\x83\x5c\x83A", "q=%83%5C%83A"),  # bytes of letters stay
        ("iso-2022-jp", b'q=\x1b$B$"$$\x1b(B!', "q=%1B%24B%24%22%24%24%1B%28B!"),  # one shift for both
        ("windows-1252", b"q=\x81\xe9", "q=%81%E9"),
        ("koi8-r", b"q=&#26085;\xc1", "q=%26%2326085%3B%C1"),
        ("utf-16le", b"q=a", "q=a"),
    ],
)
def test_a_query_is_encoded_as_browsers_encode_it(encoding, query, sent):
    body = b"<a href='/?" + query + b"'>"
    body = body if encoding != "utf-16le" else body.decode().encode("utf-16le")
    found = read(body, "http://a.test/", f"text/html; charset={encoding}")
    assert found.targets == [f"http://a.test/?{sent}"]


def test_all_bytes_of_windows_1252_mean_what_they_mean_to_browsers():
    text = decode(bytes(range(256)), "text/html; charset=windows-1252")[0]
    assert text.encode("latin-1", "replace").count(b"?") == 28  # 27 beyond Latin-1, and the mark itself
    assert [text[code] for code in (0x80, 0x81, 0x9D, 0x9F, 0xFF)] == ["\u20ac", "\x81", "\x9d", "\u0178", "\xff"]
