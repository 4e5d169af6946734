"""Cookies as RFC 6265 has them, and its successor where that is stricter."""

import pytest

from evercrawl.fetch.cookies import MOST_OF_DOMAIN, Cookie, CookieJar, cookie_date
from evercrawl.parse.sites import registrable

NOW = 1_700_000_000.0
DAY = 86_400.0


def jar_of(host: str, *lines: str, path: str = "/", https: bool = True) -> CookieJar:
    jar = CookieJar(registrable)
    jar.set_from(host, path, https, lines, NOW)
    return jar


@pytest.mark.parametrize(
    ("line", "host", "path", "https", "sent"),
    [
        ("a=1", "www.example.org", "/", False, "a=1"),
        ("a=1", "sub.www.example.org", "/", False, ""),  # of the host alone
        ("a=1; Domain=example.org", "sub.example.org", "/", False, "a=1"),
        ("a=1; Domain=.example.org", "example.org", "/", False, "a=1"),
        ("a=1; Domain=other.org", "other.org", "/", False, ""),
        ("a=1; Domain=org", "example.org", "/", False, ""),  # a public suffix
        ("a=1; Domain=sub.www.example.org", "sub.www.example.org", "/", False, ""),
        ("a=1; Path=/docs", "www.example.org", "/docs", False, "a=1"),
        ("a=1; Path=/docs", "www.example.org", "/docs/x?y", False, "a=1"),
        ("a=1; Path=/docs", "www.example.org", "/docsx", False, ""),
        ("a=1; Path=docs", "www.example.org", "/", False, "a=1"),  # no path at all
        ("a=1; Secure", "www.example.org", "/", False, ""),
        ("a=1; Secure", "www.example.org", "/", True, "a=1"),
        ("a=1; HttpOnly; SameSite=Lax", "www.example.org", "/", False, "a=1"),
        ("a", "www.example.org", "/", False, "a"),
        ("=", "www.example.org", "/", False, ""),
        ('a="1 2"', "www.example.org", "/", False, 'a="1 2"'),
        ("a=1=2", "www.example.org", "/", False, "a=1=2"),
        ("a=1\x00", "www.example.org", "/", False, ""),
        ("a=" + 4096 * "x", "www.example.org", "/", False, ""),
        ("__Host-a=1; Secure; Path=/", "www.example.org", "/", True, "__Host-a=1"),
        ("__Host-a=1; Secure; Path=/; Domain=example.org", "www.example.org", "/", True, ""),
        ("__Secure-a=1", "www.example.org", "/", True, ""),
    ],
)
def test_who_gets_a_cookie(line, host, path, https, sent):
    assert jar_of("www.example.org", line).header(host, path, https, NOW) == sent


def test_a_host_that_is_a_public_suffix_has_cookies_of_its_own_alone():
    jar = jar_of("github.io", "a=1; Domain=github.io")
    assert [jar.header(host, "/", True, NOW) for host in ("github.io", "me.github.io")] == ["a=1", ""]


def test_an_address_has_cookies_of_its_own_alone():
    jar = jar_of("127.0.0.1", "a=1; Domain=127.0.0.1", "b=2; Domain=0.1", "c=3")
    assert [jar.header(host, "/", True, NOW) for host in ("127.0.0.1", "1.127.0.0.1")] == ["a=1; c=3", ""]


def test_the_path_is_the_folder_of_the_page_where_none_is_named():
    jar = jar_of("a.example", "a=1", path="/docs/page?x=/y/")
    assert [jar.header("a.example", path, True, NOW) for path in ("/docs/", "/docs", "/")] == ["a=1", "a=1", ""]


def test_longer_paths_come_first_and_then_older_cookies():
    jar = jar_of("a.example", "a=1", "b=2; Path=/x/y", "c=3; Path=/x")
    jar.set_from("a.example", "/", True, ["a=9"], NOW + 5)  # a new value leaves the age as it was
    assert jar.header("a.example", "/x/y/z", True, NOW + 5) == "b=2; c=3; a=9"


def test_time_ends_cookies_and_max_age_counts_more_than_expires():
    jar = jar_of(
        "a.example", "a=1; Max-Age=60; Expires=Wed, 09 Jun 2021 10:18:14 GMT", "b=2; Expires=Fri, 01 Jan 2100 00:00 GMT"
    )
    assert jar.header("a.example", "/", True, NOW + 59) == "a=1; b=2"
    assert jar.header("a.example", "/", True, NOW + 60) == "b=2"
    assert jar.set_from("a.example", "/", True, ["b=; Max-Age=0"], NOW + 60)
    assert not jar.holds("a.example") or jar.header("a.example", "/", True, NOW + 60) == ""
    lasting = jar_of("a.example", "a=1; Max-Age=99999999999")
    assert lasting.header("a.example", "/", True, NOW + 399 * DAY) == "a=1"
    assert lasting.header("a.example", "/", True, NOW + 400 * DAY) == ""


def test_what_comes_unencrypted_replaces_no_secure_cookie():
    jar = jar_of("a.example", "a=1; Secure")
    assert not jar.set_from("a.example", "/", False, ["a=2", "b=1; Secure"], NOW)
    assert jar.header("a.example", "/", True, NOW) == "a=1"


def test_a_domain_has_so_many_and_the_one_unused_longest_goes():
    jar = CookieJar(registrable)
    for number in range(MOST_OF_DOMAIN):
        jar.set_from("a.example", "/", True, [f"c{number}=1; Path=/{number}"], NOW)
    jar.header("a.example", "/0", True, NOW + 1)
    jar.set_from("a.example", "/", True, ["last=1"], NOW + 2)
    names = {cookie.name for cookie in jar}
    assert len(names) == MOST_OF_DOMAIN
    assert {"c0", "last"} <= names
    assert "c1" not in names


def test_what_is_new_is_told_from_what_is_the_same():
    jar = jar_of("a.example", "a=1")
    assert [jar.set_from("a.example", "/", True, [line], NOW) for line in ("a=1", "a=2", "a=2")] == [False, True, False]


def test_cookies_of_a_host_can_be_dropped_and_show_no_value():
    jar = jar_of("a.example", "a=hunter2")
    assert "hunter2" not in repr(list(jar))
    assert jar.forget(lambda domain: domain == "a.example") == 1
    assert list(jar) == []


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784111777.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784111777.0),
        ("Sun Nov  6 08:49:37 1994", 784111777.0),
        ("8:49:37 6 november 94", 784111777.0),
        ("Sun, 31 Feb 2021 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994 24:00:00 GMT", None),
        ("Thu, 01 Jan 1600 00:00:00 GMT", None),
        ("", None),
    ],
)
def test_dates_in_the_ways_that_servers_write_them(text, at):
    assert cookie_date(text) == at


def test_a_cookie_is_its_fields():
    (cookie,) = jar_of("a.example", "a=1")
    assert cookie == Cookie("a", "1", "a.example", "/", None, False, True, NOW, NOW)
