"""Whatever is typed is a query."""

from hypothesis import example, given
from hypothesis import strategies as st

from evercrawl.search.index import Index, IndexedPage
from evercrawl.search.query import MOST_WORDS, parse


def test_parts_come_in_any_order():
    query = parse('lang:pt-BR -"two words" tea site:Example.org "hot water" -milk -site:b.example -lang:fr TEA')
    assert query.words == ("tea", "hot", "water")
    assert query.phrases == (("hot", "water"),)
    assert query.without == (("two", "words"), ("milk",))
    assert (query.sites, query.without_sites) == (("example.org",), ("b.example",))
    assert (query.languages, query.without_languages) == (("pt-br",), ("fr",))


def test_a_site_may_be_given_as_an_address():
    assert parse("site:https://Docs.Example.org:8080/path").sites == ("docs.example.org",)


def test_words_with_signs_inside_stay_together_in_order():
    assert parse("well-known std::vector").words == ("well", "known", "std", "vector")


def test_a_minus_alone_is_nothing():
    assert parse("a - b").words == ("a", "b")
    assert not parse("-")


def test_what_is_only_left_out_asks_for_nothing():
    assert not parse("-tea")
    assert not parse('"" : "" -site:b.example')
    assert parse("site:example.org")


def test_a_page_that_is_pasted_is_cut():
    assert len(parse(" ".join(f"word{i}" for i in range(10_000))).words) <= MOST_WORDS


_SIGNS = st.text(alphabet=st.sampled_from("ab\"-: ()[]{}*?~^\\/+site:lang:'\n\x00é漢"), max_size=40)


@given(st.one_of(st.text(max_size=60), _SIGNS))
@example('"')
@example('site:"')
@example("-site:-lang:-")
@example("AND OR NOT *:* title:tea^3 [a TO b] /x/ tea~2")
def test_nothing_that_is_typed_raises(text):
    found = _index().search(parse(text))
    assert len(found.slot) <= 2


_made: list[Index] = []


def _index() -> Index:
    if not _made:
        index = Index(None)
        index.put([IndexedPage(1, 1, "http://a.example/", "a.example", "a.example", "A b", "a b site lang", "en")])
        index.put([IndexedPage(2, 2, "http://b.example/", "b.example", "b.example", "B", "b é 漢", "fr")])
        index.commit(0)
        _made.append(index)
    return _made[0]
