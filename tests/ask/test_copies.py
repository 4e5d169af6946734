"""Where a text is: whole, in part, changed a little, and on another site."""

import random

import pytest

from evercrawl.ask.copies import copies, page_text, shingles
from evercrawl.config import Config
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.search.index import FOLDER, Index
from evercrawl.search.schema import words_of

A, B = "http://agency.example", "http://paper.example"


def prose(seed: int, words: int) -> str:
    draw = random.Random(seed)
    return " ".join(f"{draw.choice('bcdfgklmnprst')}{draw.choice('aeiou')}{draw.randrange(900)}" for _ in range(words))


ARTICLE = prose(1, 300)
PART = " ".join(ARTICLE.split()[100:190])
EDITED = " ".join("changed" if i % 50 == 7 else word for i, word in enumerate(ARTICLE.split()))


@pytest.fixture
def crawl(made):
    """An agency's article, and what others made of it."""
    made.seed(f"{A}/", f"{B}/")
    texts = {f"{A}/article": ARTICLE, f"{A}/other": prose(2, 300), f"{B}/same": ARTICLE, f"{B}/edited": EDITED}
    texts |= {f"{B}/part": f"{prose(3, 200)} {PART} {prose(4, 200)}", f"{B}/none": prose(5, 300)}
    for root in (A, B):
        made.visit(f"{root}/", made.page("Home", *[url for url in texts if url.startswith(root)]))
    for url, text in texts.items():
        made.now += 60.0
        made.visit(url, made.page(f"Title of {url[-4:]}", text=text))
    made.stop()
    reindex(made.directory)
    crawl = opened(made.directory)
    yield View(crawl, Config(), made.now + 60.0)
    crawl.close()


@pytest.fixture
def index(crawl):
    index = Index(crawl.partition.directory / FOLDER, writable=False)
    yield index
    index.close()


def test_copies_are_listed_by_how_much_of_the_text_they_have(crawl, index):
    found = copies(crawl, index, ARTICLE)
    assert [copy.url for copy in found.copies] == [f"{A}/article", f"{B}/same", f"{B}/edited", f"{B}/part"]
    contains = [copy.contains for copy in found.copies]
    assert contains[:2] == [1.0, 1.0]
    words = words_of(EDITED)
    left = sum("changed" not in words[at : at + 5] for at in range(296))
    assert contains[2] == pytest.approx(left / 296)
    assert contains[3] == pytest.approx(86 / 296)
    assert found.copies[0].found_at <= found.copies[0].content_at < found.copies[1].content_at
    assert (found.words, found.shingles, found.indexed) == (300, 296, True)


def test_a_part_of_the_text_leads_to_all_that_have_it(crawl, index):
    found = copies(crawl, index, PART)
    assert {copy.url for copy in found.copies if copy.contains == 1.0} == {f"{A}/article", f"{B}/same", f"{B}/part"}
    part = next(copy for copy in found.copies if copy.url == f"{B}/part")
    assert 0 < part.resembles < part.contains


def test_a_page_is_no_copy_of_itself(crawl, index):
    slot, text = page_text(crawl, f"{A}/article")
    assert f"{A}/article" not in [copy.url for copy in copies(crawl, index, text, own=slot).copies]
    assert page_text(crawl, f"{A}/unknown") is None


def test_least_and_most_bound_the_list(crawl, index):
    assert [copy.url for copy in copies(crawl, index, ARTICLE, least=0.95).copies] == [f"{A}/article", f"{B}/same"]
    assert len(copies(crawl, index, ARTICLE, most=1).copies) == 1


def test_without_an_index_what_is_alike_as_a_whole_is_found(crawl):
    found = copies(crawl, None, ARTICLE)
    assert {f"{A}/article", f"{B}/same"} <= {copy.url for copy in found.copies}
    assert f"{B}/part" not in {copy.url for copy in found.copies}
    assert not found.indexed


@pytest.mark.parametrize("text", ["", "!?", "nothing that anybody ever wrote about"])
def test_what_nobody_has_has_no_copies(crawl, index, text):
    assert copies(crawl, index, text).copies == ()


def test_a_text_of_a_script_without_spaces_has_words_too():
    assert len(shingles(words_of("東京都に住む人々は毎日電車で通勤しています"))) > 3
