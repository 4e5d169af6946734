"""Every regular expression that sees foreign text takes time linear in its length, whatever is repeated in it."""

import itertools
import re
import time

import pytest

from evercrawl.crawl.importing.forms.answers import answer
from evercrawl.model.focus import of_type
from evercrawl.model.link_words import words_in
from evercrawl.parse.requisites import of_css, of_page, of_srcset
from evercrawl.search import segment
from evercrawl.store.archive.surt import surt_key
from tests.helpers.expressions import Expression, built, built_where, expressions, forms, run, text_of

CHARS = 2_000
QUICK_S = 0.0015  # far less than the square of CHARS takes
AGAIN = 20
SURE_S = 0.25
"""Nothing else that a machine does adds as much to the time that a process takes."""


def _cost_s(expression: Expression, use: str, text: str | bytes) -> float:
    began = time.process_time()
    run(expression.pattern, use, text)
    return time.process_time() - began


def _busy(expression: Expression) -> list[tuple[str, str]]:
    """Return the first use and repeats on which an expression takes more than about linear time, if there are any."""
    for use, form in itertools.product(expression.uses, forms(expression.pattern)):
        text = text_of(expression.pattern, form, CHARS)
        once = _cost_s(expression, use, text)
        if once < QUICK_S or (once := min(_cost_s(expression, use, text) for _ in range(3))) < QUICK_S:
            continue
        longer = text_of(expression.pattern, form, 4 * CHARS)
        longest = _cost_s(expression, use, longer)
        for _ in range(AGAIN):  # the least of many: what else the machine does only adds to a time
            if longest <= 8 * once:
                break
            if longest > SURE_S:
                return [(use, repr(form))]
            once = min(once, _cost_s(expression, use, text))
            longest = min(longest, _cost_s(expression, use, longer))
        else:
            return [(use, repr(form))]
    return []


def test_no_repeats_keep_an_expression_busy():
    everything = list(expressions())
    assert len(everything) > 100
    assert {each.name: busy for each in everything if (busy := _busy(each))} == {}


def _decoded(name: str) -> None:
    head = f"HTTP/1.1 200 OK\r\n{name}: chunked\r\n\r\n" if name == "transfer-encoding" else ""
    answer("http://a.test/", 0.0, (head or f"HTTP/1.1 200 OK\r\n{name}: gzip\r\n\r\n").encode(), b"<p>decoded")


BUILDERS = {
    "search": lambda: words_in(["storm", "high water", "a a a", "c++", "(.*)+", "\u00fcber"]),
    "match": lambda: [of_type(each) for each in ("text/*", "*/*", "*a*a*a*a*", "application/pdf")],
    "finditer": lambda: [segment.pattern(each) for each in ("aa", "\u8336", "\u0e01\u0e32\u0e23")],
    "sub": lambda: [_decoded(each) for each in ("transfer-encoding", "content-encoding")],
}
"""By the way in which the code uses them, what builds expressions."""


def test_no_repeats_keep_an_expression_busy_that_is_built_while_the_crawl_runs():
    everything = [each for use, builder in BUILDERS.items() for each in built(builder, use)]
    assert {each.name for each in everything} >= built_where(), "a function builds expressions: exercise it above"
    assert {each.name: busy for each in everything if (busy := _busy(each))} == {}


def test_expressions_that_are_built_are_seen(tmp_path):
    def made(text: str) -> set[str]:
        (tmp_path / "some.py").write_text(f"import re\n{text}")
        return built_where(tmp_path)

    assert made("def f(a):\n return re.compile(a)") == {"evercrawl.some:f"}
    assert made("class A:\n def f(self):\n  return [re.sub('a' + each, '', '') for each in self.b]") == {
        "evercrawl.some:A.f"
    }
    assert made("from re import sub") == {"evercrawl.some:import"}
    assert made("import re as r") == {"evercrawl.some:import"}
    assert made("A = re.compile('a')\ndef f(a):\n return re.sub('a', '', a)") == set()


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
