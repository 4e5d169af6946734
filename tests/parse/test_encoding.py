"""From bytes to text."""

import pytest
import webencodings.labels
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.parse.encoding import decode, sniff, utf8
from evercrawl.parse.prescan import charset, prescan


@pytest.mark.parametrize(
    ("body", "content_type", "want"),
    [
        (b"\xef\xbb\xbf<meta charset=koi8-r>", "text/html; charset=big5", "utf-8"),
        (b"\xff\xfe<\0", "text/html; charset=big5", "utf-16le"),
        (b"\xfe\xff\0<", "", "utf-16be"),
        (b"<meta charset=koi8-r>", "text/html; charset=big5", "big5"),
        (b"<meta charset=koi8-r>", "text/html; charset=klingon", "koi8-r"),
        (b"<meta charset=klingon><meta charset=koi8-r>", "", "koi8-r"),
        (b"<meta charset=utf-16le>", "", "utf-8"),
        (b"<meta charset=x-user-defined>", "", "windows-1252"),
        (b"<meta name=charset content=koi8-r>", "", "utf-8"),
        (b"<meta content='text/html; charset=koi8-r'>", "", "utf-8"),
        (b"<meta content='text/html; charset=koi8-r' http-equiv=content-type>", "", "koi8-r"),
        (b"<p title='<meta charset=koi8-r>'>", "", "utf-8"),
        (b"<meta charset='koi8-r", "", "utf-8"),
        (b"<meta charset=koi8-r", "", "utf-8"),
        (b"<?xml version='1.0' encoding='koi8-r'?><html>", "", "koi8-r"),
        (b"<p>plain", "text/html; charset=iso-8859-1", "windows-1252"),
        (b"caf\xc3\xa9", "", "utf-8"),
        (b"caf\xe9", "", "windows-1252"),
        (b"\xe9" + b" " * 2000 + b"<meta charset=koi8-r>", "", "koi8-r"),
        (b"\xc3\xa9" + b" " * 2000 + b"<meta charset=koi8-r>", "", "utf-8"),
        (b"", "", "utf-8"),
    ],
)
def test_sniffing(body, content_type, want):
    assert sniff(body, content_type) == want
    assert decode(body, content_type)[1] == want
    assert utf8(body, content_type)[1] == want


@pytest.mark.parametrize(
    ("header", "want"),
    [
        ("text/html; charset=UTF-8", "utf-8"),
        ("text/html;charset = 'latin1'", "windows-1252"),
        ('text/html; charset="koi8-r"; x', "koi8-r"),
        ("text/html; charset=", None),
        ('text/html; charset="koi8-r', None),
        ("", None),
    ],
)
def test_charset_of_a_header(header, want):
    assert charset(header) == want


def test_windows_1252_is_the_webs():
    assert decode(b"\x80\x81\x9d\xe9", "text/html; charset=latin1")[0] == "€\x81\x9dé"


def test_gbk_reaches_as_far_as_gb18030():
    assert decode("㐀漢".encode("gb18030"), "text/html; charset=gbk") == ("㐀漢", "gbk")


def test_marks_are_not_text():
    assert decode(b"\xef\xbb\xbfx")[0] == decode(b"\xff\xfex\0")[0] == decode(b"\xfe\xff\0x")[0] == "x"


def test_broken_utf8_keeps_its_good_parts():
    assert decode(b"a\xe2\x82b\xffc", "text/html; charset=utf-8")[0] == "a\ufffdb\ufffdc"


@pytest.mark.parametrize("name", sorted(set(webencodings.labels.LABELS.values())))
@given(body=st.binary(max_size=64))
def test_nothing_fails(name, body):
    text, found = decode(b"x" + body, f"text/html; charset={name}")
    assert found == name
    assert text.encode()
    assert utf8(b"x" + body, f"text/html; charset={name}")[0].decode("utf-8", "replace") == text


@given(
    st.lists(
        st.sampled_from([b"<", b"meta", b" ", b"charset", b"=", b"koi8-r", b'"', b"'", b">", b"/", b"!--", b"-->"])
    )
)
def test_prescan_ends(pieces):
    assert prescan(b"".join(pieces)) in (None, "koi8-r")


def test_what_a_page_declares_late_is_not_taken_for_what_others_declared_that_begin_as_it_does():
    start = b"<!doctype html><meta name=a content='" + b"x" * 220 + b"'>"  # 258 bytes
    assert [prescan(start + b"<meta charset=" + name + b">") for name in (b"koi8-r", b"big5")] == ["koi8-r", "big5"]


@given(st.integers(200, 270), st.sampled_from(["koi8-r", "big5", "gbk"]))
def test_what_was_remembered_of_first_bytes_is_what_they_say(width, name):
    page = f"<!--{'x' * width}--><meta charset={name}><p>".encode()
    assert prescan(page) == name == prescan(page + b"more") == prescan(page)
