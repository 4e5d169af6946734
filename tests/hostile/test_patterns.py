"""Expressions of people meet URLs of strangers: answers as Python gives them, in time that no URL can choose."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.config import Config
from evercrawl.config.page_patterns import text_search
from evercrawl.config.patterns import UrlPattern, unbounded
from evercrawl.config.session_keys import KINDS
from evercrawl.errors import ConfigError
from evercrawl.fetch.small import SmallAnswer
from evercrawl.model.rules.scope import Scope
from evercrawl.serve.signals.websub import links_of

EXPLODE = [
    "([a-z]+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){12}$", "([a-zA-Z]+)*$", r"(\w+\w+)+$", "(x+x+)+y", "((a+)+)+$",
    "(?:a?){30}a{30}$", ".*.*.*.*=$", "a*a*a*a*a*a*$", "(a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?){2}b",
]  # fmt: skip
PIECES = ["a", "[a-c]", "/", r"\d", ".", "[?]", "(?:a|ab)", "(b|/)", "^", "$", r"\b", r"\w", "[^/]", r"\.", "(?i:A)"]
AFTER = ["", "", "*", "+", "?", "{2}", "{1,3}", "*?", "+?", "{2,}"]
FORM = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(AFTER)), min_size=1, max_size=6)


@pytest.mark.parametrize("pattern", EXPLODE)
@pytest.mark.parametrize("filler", ["a", "x", "aaab", "%20", "A-"])
def test_no_url_keeps_a_pattern_busy(pattern, filler):
    found, url = UrlPattern(pattern), f"https://evil.test/{filler * (8_000 // len(filler))}!"
    assert found.linear
    began = time.process_time()
    found.search(url)
    assert time.process_time() - began < 1.0  # a millisecond or less; Python needs longer than anybody waits


@settings(max_examples=400, deadline=None)
@given(FORM, st.text("ab/1.?=-A", max_size=24))
def test_what_is_found_is_what_python_finds(form, path):
    text = "".join(piece + ("" if piece in ("^", "$", r"\b") else after) for piece, after in form)
    url = f"https://a.test/{path}"
    assert UrlPattern(text).search(url) == (re.search(text, url) is not None)


@pytest.mark.parametrize(
    "text", ["(?!x).*y", "(?<=/a).+", r"(a)\1+", "a{2000}", "(?x) a +", "a*+b", f"{'(a)' * 12}+{chr(92)}12"]
)
def test_what_is_not_matched_in_linear_time_is_matched_as_before_and_told(text):
    found = UrlPattern(text)
    assert not found.linear
    for url in ("https://a.test/aab/y", "https://a.test/aaay", "https://a.test/", "https://b.test/a b"):
        assert found.search(url) == (re.search(text, url) is not None)
    said = unbounded(Config(exclude=(text, "/plain/"), include=("a+",)))
    assert repr(text) in said
    assert "'/plain/'" not in said
    assert "'a+'" not in said


def test_what_readers_of_the_server_ask_takes_linear_time_or_is_refused():
    assert ChangeQuestion(pattern="(a+)+$").expression is not None
    with pytest.raises(ConfigError, match="unbounded time"):
        _ = ChangeQuestion(pattern="(?=h)(a+)+$").expression


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("Sign in.*to continue", "Sign in "),
        (r"(?i)please\s+log in.*first", "please log in "),
        (r"<a[^>]*>\s*Log in\s*</a>", "<a> "),
        ("([a-z]+)+$", "a"),
    ],
)
def test_no_page_keeps_the_search_for_the_end_of_a_login_busy(pattern, part):
    search, page = text_search(pattern), part * ((256 << 10) // len(part)) + "!"
    began = time.process_time()
    assert not search(page)
    assert time.process_time() - began < 0.5  # milliseconds; two seconds and more where it goes back


@pytest.mark.parametrize("pattern", ["(?!x)y", r"(a)\1", "a*+b", f"{'(a)' * 12}{chr(92)}12", "a{1001}", "(" * 5_000])
def test_an_end_of_a_login_that_is_not_found_in_linear_time_is_refused(pattern):
    assert KINDS["logged_out"].read("Log in, größer|\u65e5+") == "Log in, größer|\u65e5+"
    assert text_search("gr.ßer|\u65e5+")("\u65e5\u65e5")
    with pytest.raises(ValueError, match=r"cannot be used|does not compile"):
        KINDS["logged_out"].read(pattern)


@pytest.mark.parametrize("text", ["a{,3}b", r"a*\Z", "[:[a]+b", r"(?a)\ba+\b", r"(?:a$|\n)*b", "日+|a+b"])
def test_what_only_the_syntax_hid_takes_linear_time_in_urls_too(text):
    found = UrlPattern(text)
    assert found.linear
    for url in ("https://a.test/aab", "https://a.test/aaay", "https://a.test/", "https://b.test/:ab"):
        assert found.search(url) == (re.search(text, url) is not None)


def test_a_scope_judges_a_thousand_such_urls_in_seconds():
    scope = Scope(Config(scope="any", include=("([a-z]+)+$",), exclude=("(a|aa)+!",)), lambda _: 0)
    began = time.process_time()
    for n in range(1_000):
        assert scope.excluded_by(f"https://evil.test/{n}{'a' * 500}?", 1) == "include"
    assert time.process_time() - began < 5.0


PARTS = ["<", "<link ", "<a:", "a", 'a="', "; a", ';a="', '<x>;a="', "-", "<link a", " ;", "; rel", "a= "]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("before", ["", "<link ", "<x>"])
def test_no_feed_keeps_the_search_for_its_hub_busy(part, before):
    began = time.process_time()
    links_of(SmallAnswer(200, "", (before + part * ((1 << 20) // len(part)) + ">").encode()), "https://evil.test/")
    links_of(SmallAnswer(200, f"Link: {before}{part * ((1 << 18) // len(part))}"), "https://evil.test/")
    assert time.process_time() - began < 3.0  # hundredths of a second; minutes where it goes back
