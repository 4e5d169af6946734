"""What a host says of paths that cannot exist, told from what it says of pages."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.crawl.probes.soft404 import (
    AbsentPathAnswer,
    folder_of,
    impossible,
    leads_alike,
    near_in_size,
    page_answer,
    redirect_answer,
    says_alike,
)
from evercrawl.crawl.probes.soft404_book import KEPT_S, MOST_FOLDERS, Soft404Book
from evercrawl.model.stored.reading import Before
from evercrawl.parse.urls import normalise

SITE = "http://shop.example"
HTML = "text/html; charset=utf-8"
MENU = " ".join(f"section{number}" for number in range(3000))


def error_page(url: str, more: str = "") -> bytes:
    return f"<title>Oops</title><nav>{MENU}</nav><p>Nothing was found at {url}. {more}</p>".encode()


def answers(*more: str, path: str = "/x/") -> list[AbsentPathAnswer]:
    return [
        page_answer(url, error_page(url, words), HTML)
        for url, words in zip((f"{SITE}{path}abcdefghijklmnop", f"{SITE}{path}ponmlkjihgfedcba"), more, strict=True)
    ]


@given(st.randoms(use_true_random=False), st.sampled_from(["/", "/a/b", "/a/b.html", "/a.b/c.d?e=f.g", "/%41/;x=/y"]))
def test_an_impossible_path_lies_in_the_same_folder_and_is_normal(draw, path):
    url = normalise(SITE + path)
    assert url is not None
    made = impossible(url, draw.randbytes)
    assert folder_of(made) == folder_of(url)
    assert normalise(made) == made
    assert made != url


def test_a_page_that_repeats_its_address_says_the_same_whatever_it_is():
    known = answers("", "")
    assert known[0].words == known[1].words
    url = f"{SITE}/x/goats-and-bees?colour=grey"
    assert says_alike(page_answer(url, error_page(url), HTML), known)


def test_a_few_words_of_its_own_under_a_long_menu_make_a_page():
    known, url = answers("", ""), f"{SITE}/x/goats"
    page = error_page(url).replace(b"Nothing was found", b"Five goats were found")
    assert not says_alike(page_answer(url, page, HTML), known)


@pytest.mark.parametrize(("words", "alike"), [(2, True), (20, False)])
def test_what_the_answers_differ_in_may_differ(words, alike):
    known, url = answers("at 12:01", "at 12:02"), f"{SITE}/x/goats"
    page = error_page(url, "at 12:03 " + " ".join(f"own{number}" for number in range(words - 1)))
    assert says_alike(page_answer(url, page, HTML), known) is alike


def test_a_page_that_lacks_the_words_of_the_answer_is_none():
    known = answers("we are very sorry", "we are very sorry")
    assert not says_alike(page_answer(f"{SITE}/", f"<nav>{MENU}</nav>".encode(), HTML), known)


def test_without_words_only_the_same_bytes_are_alike():
    shell = b"<script src=app.js></script>"
    known = [page_answer(f"{SITE}/abcdefghijklmnop", shell, HTML)] * 2
    assert says_alike(page_answer(f"{SITE}/a", shell, HTML), known)
    assert not says_alike(page_answer(f"{SITE}/b", shell + b"<img src=goat.png>", HTML), known)


def test_redirects_are_compared_by_where_they_lead():
    assert leads_alike(f"{SITE}/", [AbsentPathAnswer(target=f"{SITE}/")]) == f"{SITE}/"
    assert not leads_alike(f"{SITE}/a", [AbsentPathAnswer(target=f"{SITE}/")])
    assert redirect_answer(f"{SITE}/abcdefghijklmnop", "https://shop.example/abcdefghijklmnop") is None
    named = redirect_answer(f"{SITE}/abcdefghijklmnop", f"{SITE}/error?path=/abcdefghijklmnop")
    assert named is not None
    assert leads_alike(f"{SITE}/error?path=/a", [named])
    plain = redirect_answer(f"{SITE}/abcdefghijklmnop", f"{SITE}/index.php?page=missing")
    assert plain is not None
    assert not leads_alike(f"{SITE}/index.php?page=goats", [plain])
    assert not says_alike(AbsentPathAnswer(), [plain])


@pytest.mark.parametrize("size", [20, 300, 4000])
def test_answers_of_random_words_judge_no_page(size):
    draw = random.Random(7)

    def words(count: int) -> bytes:
        return " ".join(f"{draw.randrange(10**9):x}" for _ in range(count)).encode()

    known = [page_answer(f"{SITE}/{name}", words(size), HTML) for name in ("abcdefghijklmnop", "ponmlkjihgfedcba")]
    for own in (size // 2, size, 2 * size):
        assert not says_alike(page_answer(f"{SITE}/goats", words(own), HTML), known)


def test_answers_of_which_one_has_no_words_judge_no_page():
    pages = {"abcdefghijklmnop": b"<html></html>", "ponmlkjihgfedcba": b"error try again later please"}
    known = [page_answer(f"{SITE}/{name}", page, HTML) for name, page in pages.items()]
    assert not says_alike(page_answer(f"{SITE}/tea", b"<title>Green tea</title>Steep for three minutes", HTML), known)


def test_however_much_the_answers_differ_a_page_with_words_of_its_own_is_one():
    known = answers(*(" ".join(f"{name}{number}" for number in range(1500)) for name in ("offer", "advice")))
    page = error_page(f"{SITE}/x/goats", " ".join(f"own{number}" for number in range(700)))
    assert not says_alike(page_answer(f"{SITE}/x/goats", page, HTML), known)


def test_sizes_far_off_are_not_worth_a_look():
    known = [AbsentPathAnswer(size_bytes=10_000)]
    assert near_in_size(SITE, 9_000, known)
    assert not near_in_size(SITE, 40_000, known)
    assert not near_in_size(SITE, 0, [AbsentPathAnswer(target=SITE)])


def test_what_is_known_outlives_the_process_for_a_week(tmp_path):
    path, now = str(tmp_path / "soft404.sqlite"), 1.7e9
    book = Soft404Book(path)
    assert book.wanted(f"{SITE}/x/goats", now)
    kept = tuple(answers("", ""))
    book.keep(f"{SITE}/x/", now, kept)
    book.keep(f"{SITE}/honest/", now, ())
    book.close()
    again = Soft404Book(path)
    assert not again.wanted(f"{SITE}/x/goats", now)
    assert not again.wanted(f"{SITE}/honest/goats", now + KEPT_S - 1)
    assert again.wanted(f"{SITE}/honest/goats", now + KEPT_S + 1)
    assert again.wanted(f"{SITE}/other/", now)
    held = Before(depth=1, digest=1, size_bytes=kept[0].size_bytes)
    assert again.doubts(f"{SITE}/x/y/goats", held, now)
    assert not again.doubts(f"{SITE}/honest/goats", held, now)
    assert not again.doubts(f"{SITE}/x/goats", held, now + KEPT_S + 1)
    again.close()


def test_an_origin_is_asked_in_a_few_folders_only():
    book = Soft404Book(":memory:")
    for number in range(MOST_FOLDERS):
        assert book.wanted(f"{SITE}/{number}/goats", 0.0)
        book.keep(f"{SITE}/{number}/", 0.0, ())
    assert not book.wanted(f"{SITE}/another/goats", 0.0)
    assert book.wanted(f"{SITE}/goats", 0.0)  # the root, whose answers count everywhere
    assert book.wanted("http://b.example/another/goats", 0.0)
    book.close()


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b""])
def test_a_damaged_file_costs_no_more_than_asking_again(tmp_path, damage):
    path = tmp_path / "soft404.sqlite"
    path.write_bytes(damage)
    book = Soft404Book(str(path))
    assert book.wanted(f"{SITE}/x/goats", 0.0)
    book.keep(f"{SITE}/x/", 0.0, ())
    book.close()


def test_draws_follow_the_source_that_is_given():
    first, again = (impossible(f"{SITE}/a", random.Random(3).randbytes) for _ in range(2))
    assert first == again
