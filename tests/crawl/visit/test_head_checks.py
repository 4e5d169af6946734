"""What the head of a page says of the copy, and when it is not asked for again."""

from types import SimpleNamespace

import pytest

from evercrawl.crawl.visit.head_checks import HeadChecks
from evercrawl.types import Exchange, Outcome, Request

DATE, TAG = "Mon, 01 Jan 2024 00:00:00 GMT", '"1"'
POLICY = SimpleNamespace(freshness_check="head")


def answer(status: int, **headers: str) -> Exchange:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Exchange(Request("http://a.example/", head=True), 0.0, status=status, headers=fields)


def before(etag="", last_modified=""):
    return SimpleNamespace(last=SimpleNamespace(outcome=Outcome.OK, etag=etag, last_modified=last_modified))


@pytest.mark.parametrize(
    ("headers", "held", "same"),
    [
        ({"etag": TAG}, before(etag=TAG), True),
        ({"etag": '"2"', "last_modified": DATE}, before(TAG, DATE), False),
        ({"last_modified": DATE}, before(TAG, DATE), True),
        ({"last_modified": DATE}, before(TAG), False),
        ({}, before(TAG, DATE), False),
    ],
)
def test_the_tag_says_whether_it_is_the_same_or_else_the_date(headers, held, same):
    heads, exchange = HeadChecks(POLICY), answer(200, **headers)
    assert heads.visited(exchange, 0, 7, held) == same
    assert exchange.status == (304 if same else 200)
    asked = [("If-None-Match", TAG)]
    assert heads.wanted(0, 7, tuple(asked)) == same
    assert heads.wanted(0, 7, tuple(asked)), "once it was read, its head is asked for again"


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_a_server_in_trouble_is_a_visit_in_vain(status):
    exchange = answer(status)
    assert HeadChecks(POLICY).visited(exchange, 0, 7, before(TAG))
    assert exchange.status == status


@pytest.mark.parametrize(("status", "again"), [(405, False), (501, False), (404, True)])
def test_a_host_that_refuses_is_not_asked_again(status, again):
    heads = HeadChecks(POLICY)
    assert not heads.visited(answer(status), 0, 7, before(TAG))
    assert heads.wanted(0, 8, (("If-None-Match", TAG),)) == again
    assert heads.wanted(1, 8, (("If-None-Match", TAG),))


def test_nothing_is_asked_of_a_copy_that_has_neither_tag_nor_date_or_where_the_policy_does_not_want_it():
    assert not HeadChecks(POLICY).wanted(0, 7, ())
    assert not HeadChecks(SimpleNamespace(freshness_check="get")).wanted(0, 7, (("If-None-Match", TAG),))
