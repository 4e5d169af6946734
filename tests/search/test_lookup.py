"""Which pages answer, and what counts for how much."""

import numpy as np
import pytest

from evercrawl.search import ranking
from evercrawl.search.index import Index, IndexedPage
from evercrawl.search.query import parse


def page(
    slot: int, title: str, text: str = "", site: str = "a.example", language: str = "en", path: str = ""
) -> IndexedPage:
    return IndexedPage(slot, slot, f"http://www.{site}/{path or slot}", site, f"www.{site}", title, text, language)


@pytest.fixture
def index():
    index = Index(None)
    index.put(
        [
            page(1, "Hash tables", "keys and values"),
            page(2, "Trees", "a hash table is faster; rotations keep a tree flat", language="en-GB"),
            page(3, "Bread", "we rotate the loaf on the table; hash browns", site="b.example"),
            page(4, "Brot", "der Tisch und die Häuser", site="b.example", language="de"),
            page(5, "", "words", path="open-addressing.html"),
            IndexedPage(6, 6, "", "a.example", "www.a.example", "", "", ""),
        ]
    )
    index.add_anchors([(5, "linear probing"), (1, "dictionaries"), (4, "bread in german")])
    index.commit(0)
    return index


def found(index: Index, words: str) -> list[int]:
    candidates = index.search(parse(words))
    score = ranking.scores(candidates, np.zeros(len(candidates.slot)))
    return candidates.slot[ranking.order(candidates, score)].tolist()


def test_more_words_are_better_and_the_title_counts_for_more(index):
    assert found(index, "hash tables")[0] == 1
    assert found(index, "hash tree faster rotations")[0] == 2


def test_other_forms_of_a_word_are_found_and_count_for_less(index):
    assert sorted(found(index, "rotation")) == [2, 3]
    assert found(index, "rotate") == [3, 2]
    forms = index.search(parse("tables")).forms
    assert [(form.word, form.weight < 1) for form in forms[0]] == [("tables", False), ("table", True)]


def test_forms_are_of_the_language_that_is_asked_for(index):
    assert found(index, "haus lang:de") == []  # the stem of "häuser" is "haus", its beginning is not
    assert found(index, "tische lang:de") == [4]
    assert found(index, "tische") == [4]  # in English too: "tisch" and "tische" have one stem


def test_words_of_links_and_addresses_find_a_page(index):
    assert found(index, "probing") == [5]
    assert found(index, "addressing") == [5]
    assert found(index, "dictionaries") == [1]


def test_a_phrase_has_to_be_there(index):
    assert found(index, '"hash table"') == [2]
    assert found(index, '"table hash"') == [3]  # signs between words do not count
    assert found(index, '"keys values"') == []


def test_words_that_stand_together_count_for_more(index):
    candidates = index.search(parse("hash table"))
    assert dict(zip(candidates.slot.tolist(), (candidates.phrase > 0).tolist(), strict=True)) == {
        1: False, 2: True, 3: False,
    }  # fmt: skip


def test_a_title_that_says_a_word_twice_stands_together_too(index):
    index.put([page(30, "To be or not to be"), page(31, "Not to be or to")])
    index.commit(1)
    candidates = index.search(parse("to be or not to be"))
    assert candidates.slot[candidates.phrase > 0].tolist() == [30]


def test_what_is_excluded_is_left_out(index):
    assert found(index, "hash -rotations") == [1, 3]
    assert found(index, 'hash -"hash browns"') == [1, 2]
    assert found(index, "hash -site:a.example") == [3]


def test_sites_and_languages_narrow_links_too(index):
    assert found(index, "hash site:b.example") == [3]
    assert found(index, "hash site:www.b.example") == [3]
    assert found(index, "bread lang:de") == [4]
    assert found(index, "hash lang:en-gb") == [2]
    assert found(index, "hash -lang:en-gb") == [1, 3]


def test_a_site_alone_asks_for_all_of_it_but_for_what_hides(index):
    assert sorted(found(index, "site:a.example")) == [1, 2, 5]
    assert found(index, "lang:de") == [4]
    assert found(index, "") == found(index, "-hash") == []


def test_importance_decides_between_equals(index):
    index.put([page(20 + i, "Same title", "same text") for i in range(3)])
    index.commit(1)
    candidates = index.search(parse("same"))
    assert candidates.slot.tolist() == [20, 21, 22]
    for importance, order in (([0, 0, 0], [20, 21, 22]), ([0.1, 5, 1], [21, 22, 20])):
        score = ranking.scores(candidates, np.array(importance, np.float64))
        assert candidates.slot[ranking.order(candidates, score)].tolist() == order


def test_where_there_are_more_than_were_asked_for_it_says_so(index):
    index.put([page(100 + i, "many", "many") for i in range(50)])
    index.commit(1)
    some, every = index.search(parse("many"), 10), index.search(parse("many"), 100)
    assert (len(some.slot), some.whole) == (10, False)
    assert (len(every.slot), every.whole) == (50, True)
    assert not index.search(parse("site:a.example"), 10).whole


def test_forms_follow_what_is_in_the_index(index):
    assert len(index.search(parse("kettles")).forms[0]) == 1
    index.put([page(9, "Kettle")])
    index.commit(1)
    assert found(index, "kettles") == [9]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hsah", "hash"), ("rotatoins of tabels", "rotations of tables"), ("loafs hash", ""), ("ahsh", "hash"),
        ("bred", "bread"), ("tree -hsah", ""), ('"hsah tabel"', ""), ("site:hsah.example", ""), ("12345", ""),
        ("xylophone", ""), ("taböes", "tables"), ("", ""),
    ],
)  # fmt: skip
def test_words_that_no_page_has_are_taken_for_the_nearest_that_some_have(index, typed, meant):
    with index.looked_up() as lookup:
        assert lookup.spelling.instead(typed) == meant


@pytest.mark.parametrize(
    ("begun", "ends"),
    [("has", ["hash"]), ("hash ta", ["hash tables", "hash table"]), ("der ti", ["der tisch"]),
     ("bread ro", ["bread rotate"]), ("hash ", []), ("", []), ("site:a", []), ("xy", [])],
)  # fmt: skip
def test_what_is_begun_is_ended_with_words_that_find_something(index, begun, ends):
    with index.looked_up() as lookup:
        assert lookup.suggestions(begun, 5) == ends


def test_languages_of_some_pages_are_counted_by_their_primary_part(index):
    with index.looked_up() as lookup:
        assert lookup.languages([1, 2, 4]) == {"en": 2, "de": 1}
        assert lookup.languages([]) == {}
