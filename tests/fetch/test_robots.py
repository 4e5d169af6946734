import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.fetch._robots_match import Rules
from evercrawl.fetch.directives import x_robots
from evercrawl.fetch.robots import MAX_ROBOTS_BYTES, parse
from evercrawl.fetch.robots_policy import fresh_s, verdict


def allowed(text, path, agent="evercrawl"):
    body = text if isinstance(text, bytes) else text.encode()
    return parse(body).allowed(agent, path)


# Groups


def test_everybodys_rules_hold_where_no_group_names_us():
    text = "User-agent: *\nDisallow: /a\n\nUser-agent: other\nDisallow: /b"
    assert not allowed(text, "/a")
    assert allowed(text, "/b")


def test_our_own_group_replaces_everybodys():
    text = "User-agent: *\nDisallow: /\n\nUser-agent: EverCrawl/2.0\nDisallow: /b"
    assert allowed(text, "/a")
    assert not allowed(text, "/b")


def test_our_own_group_without_rules_opens_everything():
    assert allowed("User-agent: *\nDisallow: /\n\nUser-agent: evercrawl\nDisallow:", "/a")


def test_star_with_a_remark_means_everybody():
    assert not allowed("User-agent: * extra\nDisallow: /a", "/a")
    assert allowed("User-agent: *extra\nDisallow: /a", "/a")


def test_other_lines_neither_end_nor_begin_a_group():
    text = "User-agent: evercrawl\nSitemap: /s.xml\nCrawl-delay: 3\nUser-agent: other\nDisallow: /a"
    assert not allowed(text, "/a")
    assert not allowed(text, "/a", "other")


def test_rules_before_any_agent_are_nobodys():
    text = "Disallow: /\nUser-agent: evercrawl\nDisallow: /a"
    assert allowed(text, "/b")
    assert not allowed(text, "/a")


# Lines


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\n"])
def test_line_ends(end):
    text = end.join(["User-agent: *", "Disallow: /a # why", "Allow: /a/b"])
    assert not allowed(text, "/a")
    assert allowed(text, "/a/b")


def test_byte_order_mark():
    assert not allowed("\ufeffUser-agent: *\nDisallow: /a", "/a")


def test_a_missing_colon_is_forgiven_between_two_words_only():
    assert not allowed("User-agent *\nDisallow /a", "/a")
    assert allowed("User-agent: *\nDisallow /a b", "/a")


def test_a_cut_last_line_is_dropped():
    rule = b"Disallow: /cut/deeper"
    filler = b"User-agent: *\nDisallow: /a\n"
    filler += b"#" * (MAX_ROBOTS_BYTES - len(filler) - len(rule)) + b"\n"
    body = filler + rule  # the limit falls one byte before the end
    assert len(body) == MAX_ROBOTS_BYTES + 1
    assert not allowed(body, "/a")
    assert allowed(body, "/cut/deeper")
    assert not allowed(body.replace(b"##", b"#", 1), "/cut/deeper")


def test_the_first_500_kib_are_read():
    assert not allowed(b"User-agent: *\n" + b"#\n" * (250 << 10) + b"Disallow: /late\n", "/late")


def test_a_line_of_a_megabyte_does_no_harm():
    assert allowed(b"User-agent: *\nDisallow: /" + b"x" * 400_000 + b"\nDisallow: /a", "/b")
    assert not allowed(b"User-agent: *\nDisallow: /" + b"x" * 400_000 + b"\nDisallow: /a", "/a")


@given(st.binary(max_size=300), st.text(max_size=40))
def test_rubbish_never_raises(body, path):
    robots = parse(body)
    robots.allowed("evercrawl", "/" + path)
    robots.crawl_delay_s("evercrawl")
    parse(b"User-agent: *\nDisallow: " + body).allowed("evercrawl", "/" + path)


def test_a_web_page_in_the_place_of_the_file_forbids_nothing():
    assert allowed("<!doctype html>\n<html><body>Disallow: /\n<a href='http://a/'>x</a></body></html>", "/")


# Rules


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        ("/a", "/ab", True),
        ("/a", "/A", False),
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/*/b", "/x/y/b/c", True),
        ("/*/b$", "/x/b/y/b", True),
        ("/*/b$", "/x/b/y", False),
        ("*.gif$", "/x.gif", True),
        ("*.gif$", "/x.gif?1", False),
        ("/ab*b$", "/ab", False),  # the parts do not overlap
        ("/a**c", "/abc", True),
        ("*", "/", True),
        ("*$", "/x", True),
        ("a", "/a", False),
        ("/a?x=*&y=", "/a?x=1&y=2", True),
        # percent-coding
        ("/%7Ejoe", "/~joe", True),
        ("/~joe", "/%7ejoe", True),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2Fb", "/a/b", False),
        ("/ツ", "/%E3%83%84", True),
        ("/%e3%83%84", "/%E3%83%84", True),
        ("/a b", "/a%20b", True),
        ("/a%7Cb", "/a|b", True),
        ("/file-with-a-%2A.html", "/file-with-a-*.html", True),
        ("/file-with-a-%2A.html", "/file-with-a-x.html", False),
        ("/foo-%24", "/foo-$", True),
        ("/a$b", "/a$bc", True),
        ("/100%", "/100%", True),
    ],
)
def test_pattern(rule, path, matches):
    assert allowed(f"User-agent: *\nDisallow: {rule}", path) is not matches


def test_rules_apply_to_everything_but_the_file_itself():
    assert allowed("User-agent: *\nDisallow: /", "/robots.txt")
    assert not allowed("User-agent: *\nDisallow: /", "/robots.txt2")


def fits(pattern, text) -> bool:
    """Return whether the whole of `text` is what `pattern` describes, by trying every way."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(fits(pattern[1:], text[start:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] == text[0] and fits(pattern[1:], text[1:])


def naive(rules, path) -> bool:
    """Return the verdict by trying every rule."""
    whole = {pattern: pattern[:-1] if pattern.endswith("$") else pattern + "*" for _, pattern in rules}
    found = [(len(pattern), allow) for allow, pattern in rules if fits(whole[pattern], path)]
    return max(found, default=(0, True))[1]


PATTERNS = st.tuples(st.booleans(), st.text("ab*", max_size=5).map("/".__add__), st.sampled_from(["", "$"]))


@given(st.lists(PATTERNS, max_size=8), st.text("ab", max_size=8).map("/".__add__))
def test_verdicts_equal_those_of_an_exhaustive_matcher(drawn, path):
    rules = [(allow, pattern + end) for allow, pattern, end in drawn]
    assert Rules(rules).allowed(path) is naive(rules, path)


def test_many_stars_cost_linear_time():
    stars = "/" + "*a" * 60
    rules = parse(f"User-agent: *\nDisallow: {stars}*b$\nDisallow: {stars}*b\n".encode()).rules("evercrawl")
    path = "/" + "a" * 1500
    start = time.process_time()
    assert rules.allowed(path)
    assert time.process_time() - start < 0.005


# What else the file says


def test_crawl_delay():
    text = b"User-agent: *\nCrawl-delay: 2\nUser-agent: a\nCrawl-delay: 0.5\nDisallow:\nUser-agent: b\nDisallow: /"
    robots = parse(text)
    assert robots.crawl_delay_s("other") == 2
    assert robots.crawl_delay_s("A") == 0.5
    assert robots.crawl_delay_s("b") is None


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf", ""])
def test_an_absurd_crawl_delay_is_none(value):
    assert parse(f"User-agent: *\nCrawl-delay: {value}".encode()).crawl_delay_s("x") is None


def test_sitemaps():
    text = "Sitemap: http://a/ü.xml\nUser-agent: *\nSite-map: /b.xml\nSITEMAP:\nsitemap: /b.xml"
    assert parse(text.encode()).sitemaps == ("http://a/ü.xml", "/b.xml")


# The fetch of the file


@pytest.mark.parametrize(
    ("status", "error", "want"),
    [
        (200, "", "parse"),
        (206, "", "parse"),
        (200, "too_large", "parse"),
        (200, "timeout", "disallow_all"),
        (301, "", "allow_all"),
        (401, "", "allow_all"),
        (403, "", "allow_all"),
        (404, "", "allow_all"),
        (429, "", "disallow_all"),
        (500, "", "disallow_all"),
        (503, "", "disallow_all"),
        (0, "dns", "disallow_all"),
        (0, "", "disallow_all"),
        (404, "reset", "disallow_all"),
    ],
)
def test_verdict(status, error, want):
    assert verdict(status, error) == want


@pytest.mark.parametrize(
    ("header", "want"),
    [
        ("", 86_400),
        ("max-age=7200", 7200),
        ('private, Max-Age="90"', 90),
        ("max-age=0", 60),
        ("max-age=10000000000", 86_400),
        ("s-maxage=100", 86_400),
        ("no-cache, max-age=7200", 60),
        ("max-age=soon", 86_400),
    ],
)
def test_fresh(header, want):
    assert fresh_s(header) == want


@pytest.mark.parametrize(
    ("header", "want"),
    [
        ("", set()),
        ("NoIndex", {"noindex"}),
        ("none", {"noindex", "nofollow"}),
        ("googlebot: noindex, nofollow", set()),
        ("EverCrawl: noindex", {"noindex"}),
        ("*: nofollow", {"nofollow"}),
        ("googlebot: noindex\nnofollow", {"nofollow"}),
        ("unavailable_after: Sat, 25 Jun 2010 15:00:00 PST, noindex", {"noindex"}),
        ("max-snippet: 50, nofollow", {"nofollow"}),
        ("googlebot: noindex, evercrawl: nofollow", {"nofollow"}),
    ],
)
def test_header_directives(header, want):
    assert x_robots(header, "evercrawl") == want
