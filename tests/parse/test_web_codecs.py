"""Characters of old encodings as browsers show them."""

import pytest
from pace import timed

from evercrawl.parse.encoding import decode
from evercrawl.parse.web_codecs import decoded, encoded


@pytest.mark.parametrize(
    ("name", "body", "want"),
    [
        ("shift_jis", b"\x87\x40\x87\x8a\xee\xe0", "\u2460\u3231\u9ad9"),
        ("shift_jis", b"10\x81\x6020", "10\uff5e20"),
        ("shift_jis", b"a\xa0\xfd\xfe\xffb\x80", "a\ufffd\ufffd\ufffd\ufffdb\x80"),
        ("euc-jp", b"\xad\xa1\xc6\xfc\xcb\xdc\xad\xea", "\u2460\u65e5\u672c\u3231"),
        ("euc-jp", b"10\xa1\xc120 \x8f\xa2\xb7 \x8e\xb1", "10\uff5e20 \uff5e \uff71"),
        ("euc-jp", b"\xad\xfe\xadx\xad", "\ufffd\ufffd\ufffdx\ufffd"),
        ("iso-2022-jp", b"\x1b$B-!F|\x1b(B1\x1b(I1\x1b(B", "\u2460\u65e51\uff71"),
        ("euc-kr", b"\x8c\x63\xb0\xa1", "\ub620\uac00"),
        ("big5", b"\xa7\xf5\xa1\x45\xa4\xfd", "\u674e\u2027\u738b"),
        ("big5", b"\x87\x7a\xfd\xbb\xa4\xfd\x88\x62", "\u3875\u6e2f\u738b\xca\u0304"),
        ("gbk", b"\xa3\xa0\xd6\xd0", "\u3000\u4e2d"),
        ("koi8-u", b"\xbe\xae", "\u040e\u045e"),
        ("windows-1255", b"\xca", "\u05ba"),
        ("windows-1251", b"\x98\xcf", "\x98\u041f"),
    ],
)
def test_characters_are_those_of_browsers(name, body, want):
    assert decoded(body, name) == want
    assert decode(body, f"text/html; charset={name}")[0] == want


@pytest.mark.parametrize(
    ("name", "text", "want"),
    [
        ("shift_jis", "\u2460\uff5e\u0e01", b"\x87\x40\x81\x60&#3585;"),
        ("euc-jp", "\u65e5\uff5e", b"\xc6\xfc\xa1\xc1"),
        ("euc-kr", "\ub620", b"\x8c\x63"),
        ("big5", "\u2027\uff5e", b"\xa1\x45\xa1\xe3"),
        ("koi8-u", "\u045e\u4e2d", b"\xae&#20013;"),
    ],
)
def test_a_query_in_an_old_encoding_is_that_of_browsers(name, text, want):
    assert encoded(text, name) == want


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("euc-jp", b"\xad\xa1"),
        ("euc-jp", b"a\xad\xa1"),
        ("big5", b"\xfa\xbd"),
        ("big5", b"\xff"),
        ("iso-2022-jp", b"\xff"),
    ],
)
def test_ten_megabytes_of_what_is_looked_up_cost_a_second_at_most(name, pair):
    text, took_s = timed(lambda: decoded(pair * (10_000_000 // len(pair)), name))
    assert len(text) >= 3_000_000
    assert took_s < 1.0
