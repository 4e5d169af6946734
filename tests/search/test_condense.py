"""Of a long text the beginning is kept, and of the rest what is new."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.search.condense import HEAD_BYTES, condense
from evercrawl.search.index import Index, IndexedPage
from evercrawl.search.query import parse
from evercrawl.search.schema import words_of

SIGNS = re.compile(r"[^0-9a-z\u0080-\U0010ffff]+")


def plainly(text: str, head: int, times: int) -> str:
    """The same, as one would write it without caring for speed; for texts of ASCII letters and spaces."""
    if len(text) <= head:
        return text
    cut = text.rfind(" ", max(head - 200, 0), head)
    cut = cut if cut >= 0 else head
    seen: dict[str, int] = {}
    out = [text[:cut]]
    for match in re.finditer(r"[0-9A-Za-z]+", text):
        word = match[0].lower()
        if len(word) > 40:
            continue
        if seen.get(word, 0) < times:
            if match.start() >= cut:
                out.append(" " + match[0])
            seen[word] = seen.get(word, 0) + 1
    return "".join(out)


@given(st.text(alphabet="aAbBc1 .-", max_size=200), st.integers(0, 120), st.integers(1, 4))
def test_it_does_what_it_says(text, head, times):
    assert condense(text.encode(), head, times) == plainly(text, head, times)


@given(st.binary(max_size=300), st.integers(0, 200))
def test_any_bytes_will_do(text, head):
    condense(text, head)


@given(st.text(max_size=200), st.integers(1, 100))
def test_no_word_is_lost(text, head):
    text = " " + text  # the beginning ends with a space, or a word could be cut in two
    kept = set(words_of(condense(text.encode(errors="replace"), head)))
    whole = set(words_of(text.encode(errors="replace").decode("utf-8", "replace")))
    long = {word for word in whole if len(word.encode()) > 30}
    runs = {word for word in whole if not word.isascii()}  # where a sign of another script is taken for a letter
    assert whole - long - runs <= kept


def test_signs_end_words_and_letters_do_not():
    text = "x " + "“naïve” – Größe… a→b été Ελλάδα naïve Größe「東京」µm"  # noqa: RUF001
    assert words_of(condense(text.encode(), 1)) == [
        "x", "naïve", "größe", "a", "b", "été", "ελλάδα", "東京", "µm",
    ]  # fmt: skip


def test_what_becomes_a_blank_only_ends_words():
    for first in range(0x80, 0x3100, 64):
        text = " ".join(f"a{chr(code)}b" for code in range(first, first + 64))
        assert words_of(condense(text.encode())) == words_of(text), hex(first)


def test_a_text_whose_only_other_signs_end_words_is_ascii():
    assert condense("“One” – 2…\u00a0→\u200b3·4 ¶".encode()) == " One    2    3 4  "  # noqa: RUF001
    assert condense("naïve “x”".encode()) == "naïve  x "


def test_capitals_do_not_make_a_word_new():
    assert condense(b"One TWO two one Three", 4) == "One TWO Three"


def test_a_character_is_never_cut_in_two():
    text = "é" * 40
    for head in range(1, 60):
        assert condense(text.encode(), head).replace(" ", "").count("\ufffd") == 0


@pytest.mark.parametrize("count", [20_000, 200_000])
def test_a_page_of_all_the_words_there_are_has_an_end(count):
    text = " ".join(f"w{i}" for i in range(count)).encode()
    assert len(condense(text)) < HEAD_BYTES + (1 << 19)
    assert len(words_of(condense(text))) > 10_000


def test_words_at_the_end_of_a_long_page_are_found_and_phrases_at_its_beginning():
    index = Index(None)
    text = "green tea " + "filler words " * HEAD_BYTES + "the last pagoda"
    index.put([IndexedPage(1, 1, "http://a.example/", "a.example", "a.example", "t", text.encode())])
    index.put([IndexedPage(2, 2, "http://a.example/2", "a.example", "a.example", "t", text)])
    index.commit(0)
    for words in ("pagoda", '"green tea"'):
        assert index.search(parse(words)).slot.tolist() == [1, 2]


def test_no_short_word_is_taken_for_another():
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = [one + other for one in letters for other in letters]
    assert words_of(condense(" ".join(["x", *words]).encode(), 2)) == ["x", *words]
