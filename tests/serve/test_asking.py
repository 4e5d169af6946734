"""Parameters of requests: whatever is given, a number is within its bounds, or the request is refused."""

import contextlib
from urllib.parse import urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.requests import Request

from evercrawl.search.index import Index, IndexedPage
from evercrawl.search.query import parse
from evercrawl.serve.asking import MOST_S, Parameters
from evercrawl.serve.problems import RequestError

DIGITS = st.builds(lambda zeros, rest: "0" * zeros + rest, st.integers(0, 50), st.text("0123456789", max_size=40))
ANY = st.one_of(DIGITS, st.floats().map(str), st.text("0123456789eE+-_. dhinfaty\u0663\u00b2", max_size=60))


def asked(value: str) -> Parameters:
    query = urlencode({"n": value}, errors="replace").encode()
    return Parameters(Request({"type": "http", "query_string": query, "headers": []}), "n")


@given(ANY)
@example("0" * 21 + "199999999999")
@example("0" * 5000)
@example("9" * 5000)
def test_a_whole_number_is_within_its_bounds_or_refused(value):
    with contextlib.suppress(RequestError):
        found = asked(value).whole("n", 1, 1, 100)
        assert 1 <= found <= 100
        assert found == int(value)


@given(ANY)
@example("1e999")
@example("-1e999")
@example("nan")
@example("inf")
@example("0" * 40 + "9d")
def test_a_share_and_a_duration_are_within_their_bounds_or_refused(value):
    for least, most, ask in (
        (0.0, 1.0, lambda given: given.share("n", 0.0)),
        (0.0, MOST_S, lambda given: given.duration("n") or 0.0),
    ):
        with contextlib.suppress(RequestError):
            assert least <= ask(asked(value)) <= most


@pytest.mark.parametrize("name", ["whole", "number"])
def test_more_digits_than_a_number_has_are_refused(name):
    with pytest.raises(RequestError):
        getattr(asked("0" * 40 + "9"), name)("n", 1, 0, 100)


def test_an_index_makes_room_for_no_more_hits_than_it_has_pages():
    index = Index(None)
    index.put([IndexedPage(7, 1, "http://example.org/", "example.org", "example.org", "Tea", "How to make it", "en")])
    index.add_anchors([(7, "all about tea")])
    index.commit(1)
    for words in ("make tea", "site:example.org"):
        found = index.search(parse(words), 1 << 40)
        assert found.slot.tolist() == [7]
        assert found.whole
