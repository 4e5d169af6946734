"""Sites."""

import pytest

from evercrawl.parse.sites import found_site, registrable, site
from evercrawl.parse.urls import hostname, normalise


@pytest.mark.parametrize(
    ("host", "want"),
    [
        ("a.b.example.org", "example.org"),
        ("www.example.co.uk", "example.co.uk"),
        ("one.github.io", "one.github.io"),
        ("github.io", "github.io"),
        ("xn--85x722f.com.cn", "xn--85x722f.com.cn"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("localhost", "localhost"),
        ("com", "com"),
        ("", ""),
    ],
)
def test_site(host, want):
    assert site(host) == want


def test_owners_under_a_private_suffix_are_strangers():
    assert site("one.github.io") != site("two.github.io")


def test_registrable_of_a_suffix_is_none():
    assert registrable("co.uk") is None


@pytest.mark.parametrize(
    ("written", "want"),
    [
        ("192.0.2.1", "192.0.2.0/24"),
        ("192.0.2.255", "192.0.2.0/24"),
        ("192.0.3.1", "192.0.3.0/24"),
        ("0xC0000201", "192.0.2.0/24"),
        ("3221225985", "192.0.2.0/24"),
        ("0300.0.02.1", "192.0.2.0/24"),
        ("192.0.513", "192.0.2.0/24"),
        ("\uff11\uff19\uff12.0.2.1", "192.0.2.0/24"),
        ("192.0.2.1.", "192.0.2.0/24"),
        ("[::ffff:192.0.2.1]", "192.0.2.0/24"),
        ("[::192.0.2.1]", "192.0.2.0/24"),
        ("[::ffff:0:192.0.2.1]", "192.0.2.0/24"),
        ("[64:ff9b::c000:201]", "192.0.2.0/24"),
        ("[2002:c000:201::1]", "192.0.2.0/24"),
        ("[2001:0:c633:6401:0:0:3fff:fdfe]", "192.0.2.0/24"),
        ("[2001:DB8:0:0:1::1]", "2001:db8::/48"),
        ("[2001:db8:0:ffff::1]", "2001:db8::/48"),
        ("[2001:db8:1::1]", "2001:db8:1::/48"),
        ("www.example.org", "example.org"),
        ("one.github.io", "one.github.io"),
        ("localhost", "localhost"),
    ],
)
def test_site_of_what_links_lead_to(written, want):
    url = normalise(f"http://{written}/")
    assert url is not None
    assert found_site(hostname(url)) == want
