"""Search forms of pages: which forms are ones, and that no page makes looking for them dear."""

import time

import pytest

from evercrawl.parse.forms.search_forms import MOST_FORMS, search_forms
from evercrawl.parse.html import read

PAGE = "http://a.example/folder/page?x=1"


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ('<form action="/search" method="get"><input type="text" name="q"></form>', "http://a.example/search?q"),
        ("<BODY><FORM ACTION=/search METHOD=GET><INPUT TYPE=TEXT NAME=q></FORM>", "http://a.example/search?q"),
        ("<form role=search><input name='text'></form>", "http://a.example/folder/page?text"),
        ('<form action=""><input type=search name=any></form>', "http://a.example/folder/page?any"),
        ("<form action=find.php?lang=de#top><input name=suchwort></form>", "http://a.example/folder/find.php?suchwort"),
        (
            "<form id=site-search action=/go><input type=hidden name=q><input name=x.y></form>",
            "http://a.example/go?x.y",
        ),
        ("<form action=/s>\n<input\nname = 's'\ntype = text\n></form>", "http://a.example/s?s"),
        ("<form action=https://b.example/search><input name=q></form>", "https://b.example/search?q"),
    ],
)
def test_a_search_form_is_found(form, found):
    assert search_forms(f"{form}<p>two".encode(), PAGE) == [found]


@pytest.mark.parametrize(
    "form",
    [
        "<form method=post action=/search><input name=q></form>",
        "<form action=/list><input type=text name=page></form>",  # jump to a sheet
        "<form action=/search><input type=checkbox name=q><input type=submit name=go></form>",
        "<form action=/login><input name=user><input type=password name=word></form>",
        "<form action=/search><input name=''><input name='a b'></form>",
        "<form action=javascript:find()><input name=q></form>",
        "<form action=/search></form><input name=q>",
        "<formula action=/search><p name=q>",
        "<form action=/search>",
    ],
)
def test_another_form_is_none(form):
    assert search_forms(form.encode(), PAGE) == []


def test_each_form_is_told_once():
    forms = b"<form><input name=q></form>" * 3 + b"<form action=/b><input name=q></form>"
    assert search_forms(forms, "http://a.example/") == ["http://a.example/?q", "http://a.example/b?q"]


def test_a_document_has_those_of_its_page_where_they_matter():
    page = b"<base href=/c/><form action=find><input name=q></form><a href=/x>x</a>"
    assert read(page, "http://a.example/b").forms == []
    assert read(page + b"<a href=find?q=x>y</a>", "http://a.example/b").forms == ["http://a.example/c/find?q"]


@pytest.mark.parametrize(
    "page",
    [
        lambda: b"<form action=/s" * 500_000,
        lambda: b"<form>" + b"<input " * 500_000,
        lambda: b"<form " + b"a=" * 2_000_000,
        lambda: b"<form>" + b"<input name=\"" * 300_000,
        lambda: b"<form " + b"a    " * 1_000_000 + b">",
        lambda: (b"<form>" + b"<input a = = = =" * 900) * 100,
        lambda: b"<FORM><form>" * 300_000,
        lambda: (b"<form>" + b"</" * 8_000) * 500,
    ],
    ids=range(8),
)  # fmt: skip
def test_no_page_makes_it_dear(page):
    page = page()
    began = time.process_time()
    assert len(search_forms(page, PAGE)) <= MOST_FORMS
    assert time.process_time() - began < 0.5
