"""Every regular expression that sees foreign text takes time linear in its length, whatever is repeated in it."""

import itertools
import re
import time

import pytest

from evercrawl.parse.requisites import of_css, of_page, of_srcset
from evercrawl.store.archive.surt import surt_key
from tests.helpers.expressions import Expression, expressions, forms, run, text_of

CHARS = 2_000
QUICK_S = 0.0015  # far less than the square of CHARS takes


def _cost_s(expression: Expression, use: str, text: str | bytes) -> float:
    began = time.process_time()
    run(expression.pattern, use, text)
    return time.process_time() - began


def _busy(expression: Expression) -> list[tuple[str, str]]:
    """Return the uses and repeats on which an expression takes more than about linear time."""
    found = list[tuple[str, str]]()
    for use, form in itertools.product(expression.uses, forms(expression.pattern)):
        text = text_of(expression.pattern, form, CHARS)
        once = _cost_s(expression, use, text)
        if once < QUICK_S or (once := min(_cost_s(expression, use, text) for _ in range(3))) < QUICK_S:
            continue
        longer = text_of(expression.pattern, form, 4 * CHARS)
        if min(_cost_s(expression, use, longer) for _ in range(3)) > 8 * once:
            found.append((use, repr(form)))
            break
    return found


def test_no_repeats_keep_an_expression_busy():
    everything = list(expressions())
    assert len(everything) > 100
    assert {each.name: busy for each in everything if (busy := _busy(each))} == {}


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"[\s,]*([^\s,]\S*[^\s,]|[^\s,])(?:\s+[^,(]*(?:\([^)]*\)[^,(]*)*)?(?:,|$)", "walk"),
        (r"url\(\s*\s*\)", "finditer"),
        (r'"(?:[^"\\\n]|\\.)*"', "finditer"),
        (r"<(?:\w+:)?Relationship\b[^>]*>", "finditer"),
        (r"(.*)cfid=[^&]+&cftoken=[^&]+$", "match"),
    ],
)
def test_an_expression_that_can_be_kept_busy_is_recognised(pattern, use):
    assert _busy(Expression("", re.compile(pattern), frozenset([use])))


@pytest.mark.parametrize(
    "text",
    [
        f"a{' ' * 1_000_000}(",
        f"{'a ' * 300_000}(",
        f"a {'(' * 1_000_000}",
        "," * 1_000_000,
        f"url({' ' * 1_000_000}",
        '"' + '\\"' * 400_000,
        'url("\\' * 200_000,
        "image-set(" * 100_000,
        "image-set()" * 100_000,
        "@import " * 100_000 + '"',
    ],
)
def test_no_candidates_and_no_style_keep_the_search_for_requisites_busy(text):
    began = time.process_time()
    of_srcset(text)
    of_css(text)
    assert time.process_time() - began < 2.0  # a tenth; hours before


def test_no_page_of_such_attributes_keeps_it_busy():
    blanks = " " * 100_000
    page = f"<img srcset='a{blanks}(' ><p style='a:url({blanks}'><p style='{'image-set(' * 50_000}'><img src=b>"
    began = time.process_time()
    assert of_page(page.encode(), "http://a.test/") == ["http://a.test/a", "http://a.test/b"]
    assert time.process_time() - began < 2.0


def test_no_query_keeps_the_key_of_the_index_busy():
    began = time.process_time()
    for part in ("cfid=", "sid=0/", "(a(", "cfid=a&cftoken="):
        surt_key(f"http://a.test/{part * (8_000 // len(part))}?{part * (8_000 // len(part))}")
    assert time.process_time() - began < 0.5  # ten seconds before
    assert surt_key("http://a.test/?x=1&CFID=2&CFTOKEN=3&b=4") == "test,a)/?b=4&x=1"
