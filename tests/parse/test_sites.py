"""Sites."""

import pytest

from evercrawl.parse.sites import registrable, site


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
