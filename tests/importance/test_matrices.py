"""Rows of matrices: what each link gets, what the virtual page gets, and which fixpoint is computed."""

from fractions import Fraction

import numpy as np
import pytest

from evercrawl.importance import AOPIC, Google, Internal, Lazy, Ledger, Push, Unbounded, Weighted, shares
from evercrawl.importance.ledger.matrices import tax_of_small_edges

LINKS = {0: [1, 2], 1: [2, 2, 3], 2: [0], 3: [0, 1, 3], 4: [], 5: [0]}


def pushed(matrix, rows, tax, turns=200, *, raw=False):
    ledger = Ledger(Push(tax=tax), matrix=matrix, raw=raw)
    for page in rows:
        ledger.add(page)
    for _ in range(turns):
        for page, row in rows.items():
            ledger.visit(page, row)
    found = shares(ledger)
    return np.array([found[page] for page in rows])


def fixpoint(matrix):
    """Return the direction that x -> xL keeps, summing to 1; of a period, what x -> x(L + I) keeps."""
    value = np.full(len(matrix), 1 / len(matrix))
    for _ in range(20_000):
        value = value + value @ matrix
        value /= value.sum()
    return value


def test_links_get_in_proportion_to_their_weights():
    ledger = Ledger(AOPIC(tax=Fraction(1, 5), window=Unbounded()), matrix=Weighted(), at_once=False)
    ledger.add("a", cash=Fraction(1))
    ledger.visit("a", {"b": 3, "c": 1})
    assert {name: page.cash for name, page in ledger.pages.items()} == {
        "a": 0,
        "b": Fraction(3, 5),
        "c": Fraction(1, 5),
    }
    assert ledger.virtual == Fraction(1, 5)


def test_the_fixpoint_is_that_of_the_matrix_with_rows_divided_by_their_sums():
    random = np.random.default_rng(1)
    matrix = random.random((6, 6)) * (random.random((6, 6)) < 0.7) * random.random((6, 1))
    assert matrix.sum(axis=1).min() > 0
    rows = {page: dict(enumerate(matrix[page].tolist())) for page in range(6)}
    ledger = Ledger(AOPIC(tax=0, window=Unbounded()), matrix=Weighted())
    for page in rows:
        ledger.add(page, cash=1 / 6)
    for turn in range(12_000):
        ledger.visit(turn % 6, rows[turn % 6])
    found = shares(ledger, "identity")
    found = np.array([found[page] for page in range(6)])
    normalised = fixpoint(matrix / matrix.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found, normalised, atol=1e-3)
    assert np.abs(found - fixpoint(matrix)).sum() > 0.05, "which is another than that of the matrix itself"


def test_what_doubtful_links_do_not_get_goes_to_the_virtual_page():
    matrix = Internal(lambda page, to: page[0] == to[0], Fraction(1, 10))
    ledger = Ledger(Push(tax=0), matrix=matrix)
    ledger.add("a1", Fraction(1))
    ledger.visit("a1", ["a2", "b1", "b1", "a1"])
    assert ledger.pages["a2"].cash == Fraction(1, 20)
    assert ledger.pages["b1"].cash == Fraction(1, 2)
    assert ledger.virtual == Fraction(9, 20)


def test_small_edges_are_a_tax():
    """Also where a page has no links: its row is then of small edges only, all of its cash to all pages evenly."""
    size, n = 0.2, len(LINKS)
    matrix = np.full((n, n), size / n)
    for page, row in LINKS.items():
        for to in row:
            matrix[page, to] += 1 / len(row)
    found = pushed(None, LINKS, tax_of_small_edges(size), raw=True)
    np.testing.assert_allclose(found, fixpoint(matrix / matrix.sum(axis=1, keepdims=True)), rtol=1e-9)


@pytest.mark.parametrize("matrix", [Google(), Weighted()])
def test_laziness_changes_nothing_once_the_tax_is_adapted(matrix):
    tax = 0.3
    np.testing.assert_allclose(
        pushed(Lazy(matrix), LINKS, tax / (2 - tax), 400), pushed(matrix, LINKS, tax), rtol=1e-9, atol=1e-12
    )
    assert np.abs(pushed(Lazy(matrix), LINKS, tax, 400) - pushed(matrix, LINKS, tax)).sum() > 0.01


def test_opic_needs_no_laziness_where_links_have_a_period():
    ring = {page: [(page + 1) % 4] for page in range(4)}
    for matrix in (Google(), Lazy(Google())):
        ledger = Ledger(AOPIC(tax=0, window=Unbounded()), matrix=matrix)
        for page in ring:
            ledger.add(page, cash=[0.7, 0.1, 0.1, 0.1][page])
        for turn in range(4_000):
            ledger.visit(turn % 4, ring[turn % 4])
        assert shares(ledger, "history") == pytest.approx(dict.fromkeys(ring, 0.25), abs=1e-3)


def test_no_weight_is_below_zero():
    with pytest.raises(AssertionError, match="cannot take"):
        Weighted().row("a", {"b": -1})


def test_a_matrix_says_itself_what_it_spares():
    with pytest.raises(AssertionError, match="spares"):
        Ledger(Push(tax=0), convention="link", matrix=Google())
    by_link = Ledger(Push(tax=0), convention="link")
    by_row = Ledger(Push(tax=0), matrix=Google(spare=1))
    for ledger in (by_link, by_row):
        ledger.add("a")
        ledger.visit("a", ["b", "c", "b"])
        assert (ledger.virtual, ledger.pages["b"].cash) == pytest.approx((1 / 3, 1 / 3))
