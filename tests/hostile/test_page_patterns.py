# ruff: noqa: RUF001
"""A person's expression means the same in pages in any language as it means in Python."""

import contextlib
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evercrawl.config.page_patterns import text_search
from evercrawl.config.session_keys import KINDS

AFTER = ["", "", "*", "+", "?", "{2}", "{1,3}", "*?", "+?", "{2,}", "{,2}"]
WORDS = ["a", "i", "k", "ß", "İ", "ı", "日", "é", "1", "٣", "_"]
BETWEEN = [" ", "\n", "\x1c", "\x85", "\u3000", ".", "—", "\u0345", "[", ":"]
PAGE_PIECES = [
    r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", ".", r"\n", r"[\w.]", r"[^\s]", r"[\W\d]",
    "[a-z]", "[^i]", "[a[:]", "[à-ž]",
    "i", "K", "ß", "ı", "日", r"\u0130", r"\xe9", r"\x69", r"\141", "(?:a|ß)", "(i|é)", "(?i:k)",
    r"(?a:\w)", "(?-i:i)", "(?s:.)",
    "^", "$", r"\A", r"\Z", "(?m:$)", "(?m:^)", r"(?a:\b)", "($|a)",
]  # fmt: skip
BARE = frozenset(["^", "$", r"\A", r"\Z", "(?m:$)", "(?m:^)", r"(?a:\b)", "($|a)"])
ENDS = frozenset(["$", r"\Z", "($|a)"])
PAGE_FORM = st.lists(st.tuples(st.sampled_from(PAGE_PIECES), st.sampled_from(AFTER)), min_size=1, max_size=4)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["", "(?i)", "(?a)", "(?ai)", "(?m)", "(?s)", "(?im)"]), PAGE_FORM, st.data())
def test_what_is_found_in_a_page_is_what_python_finds(flags, form, data):
    pattern = flags + "".join(piece + ("" if piece in BARE else after) for piece, after in form)
    page = data.draw(st.text(st.sampled_from(WORDS + BETWEEN), max_size=8))
    assume(not any(piece in ENDS for piece, _ in form[:-1]))  # some of these are refused
    assert text_search(pattern)(page) == (re.search(pattern, page) is not None)


@settings(max_examples=200, deadline=None)
@given(PAGE_FORM, st.data())
def test_an_end_in_the_midst_means_the_same_or_is_refused(form, data):
    pattern = "".join(piece + ("" if piece in BARE else after) for piece, after in form)
    page = data.draw(st.text(st.sampled_from(["a", "i", "\n"]), max_size=5))
    with contextlib.suppress(re.error):
        assert text_search(pattern)(page) == (re.search(pattern, page) is not None)


@pytest.mark.parametrize(
    ("pattern", "page"),
    [
        (r"Größe: \w+$", "Größe: Übergroß\n"),
        (r"^\S+\sуже$", "Войдите\u3000уже"),
        (r"(?i)giriş yap", "GİRİŞ YAP"),
        (r"\d\d:\d\d", "١٢:٣٠"),
        (r"(?m)^Anmelden$", "a\nAnmelden\nb"),
        (r"(?:Log in|Anmelden$)", "Anmelden\n"),
        (r"a[^\W\d_]b{,2}c", "aßbbc"),
        (r"(?a)\bin\b", "Login in"),
        ("[x[:]+!", "[:x!"),
    ],
)
def test_pages_in_any_language_are_searched_as_python_does(pattern, page):
    assert re.search(pattern, page)
    assert text_search(pattern)(page)
    assert not text_search(pattern)(page[1:-2] + " \n\n")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"\bÜber", "(?a)"),
        ("a$\nb", "follow $"),
        (r"(a$|b)c", "follow $"),
        (r"a\Z|b$", "not both"),
        ("(?x)a", "flag x"),
    ],
)
def test_what_could_not_keep_its_meaning_in_a_page_is_refused_in_words(pattern, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        KINDS["logged_out"].read(pattern)
