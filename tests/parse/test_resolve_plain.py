"""Links that are put together without a parser, against the parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.parse.urls import normalise, resolve

PIECES = ["a", "B9", "_", "-", "~", ".", "..", "/", "//", ":", "?", "#", "%2e", "@", " ", "\\", "é", "http", "x.html"]
PIECES += ["//h.example./", "//h.example.:9/"]
HREFS = st.builds(
    lambda steps, rest: steps * "../" + rest,
    st.sampled_from([0, 0, 0, 1, 2, 3, 4]),
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
)
BASES = [
    "http://h.example/",
    "https://h.example:8/a/b.html?q=/c/d",
    "http://u:p@h.example/x",
    "http://xn--bcher-kva.de/y/",
    "http://h.example/a/b/c/d.html",
    "http://h.example/a//b/%2e%2e//c",
    "http://h.example.:8/a/b",
    "http://bücher.de./a/b",
]


@given(st.sampled_from(BASES), st.lists(HREFS, max_size=4))
def test_links_lead_where_the_parser_says(base, hrefs):
    want = [normalise(href, base) for href in hrefs]
    for _ in range(2):  # at first, and from memory
        assert resolve(base, hrefs) == list(dict.fromkeys(url for url in want if url))


@pytest.mark.parametrize("base", ["mailto:a@b", "data:text/plain,x/y"])
def test_no_link_leads_from_what_is_no_place(base):
    assert resolve(base, ["x.html", "/y"]) == []
