"""Repair: damaged residuals and values end as if nothing had happened; what cash was lost stays lost."""

from fractions import Fraction

import numpy as np
import pytest

from evercrawl.importance import AOPIC, Ledger, Push, repair, shares
from evercrawl.importance.offline import Graph
from evercrawl.importance.offline.residuals import residual

LINKS = {0: [1, 2], 1: [2], 2: [0, 4], 3: [0, 1, 5], 4: []}


def begun(number=float):
    ledger = Ledger(Push(number(3) / 20, number(1) / 10), site=lambda page: page % 2)
    for page in LINKS:
        ledger.add(page, number(1 + page))
    for turn in range(12):
        ledger.visit(turn % 5, LINKS[turn % 5])
    ledger.alias(3, 4)
    return ledger


def test_a_ledger_that_is_whole_needs_no_repair():
    ledger = begun(Fraction)
    virtual = ledger.virtual
    assert repair(ledger) == {}
    assert ledger.virtual == virtual


def test_what_was_lost_is_told_and_put_back():
    ledger, whole = begun(Fraction), begun(Fraction)
    ledger.pages[1].key = Fraction(0)
    ledger.pages[4].key += 3
    ledger.cells.virtual -= 2
    assert ledger.owed() != 0
    assert repair(ledger) == {1: -whole.pages[1].cash, 4: 3}
    assert ledger.pages == whole.pages
    assert ledger.virtual == whole.virtual
    assert ledger.owed() == 0


def test_damaged_values_do_no_harm_once_residuals_are_put_right():
    ledger, whole = begun(), begun()
    for page in ledger.pages.values():
        page.history *= 1.5
        page.past = page.past._replace(history=page.history)
    for pages in (ledger, whole):
        repair(pages)
        for turn in range(600):
            page = turn % 5
            if page != 3:
                pages.visit(page, LINKS[page])
            else:
                pages.alias(3, 4)
    assert shares(ledger) == pytest.approx(shares(whole), rel=1e-12)


def test_arrays_say_what_the_ledger_does():
    ledger = Ledger(Push(0.15))
    for page in LINKS:
        ledger.add(page, 1.0 + page)
    for turn in range(12):
        ledger.visit(turn % 5, LINKS[turn % 5])
    pages = sorted(ledger.pages)
    links = [(at, to) for at in pages for to, _ in ledger.given(ledger.pages[at], 1.0)]
    each = np.array([0.85 / max(len(LINKS.get(page, ())), 1) for page in pages])
    source = np.array([ledger.pages[page].weight for page in pages], float)
    value = np.array([ledger.pages[page].history for page in pages])
    found = residual(Graph.of(len(pages), links), source, each, value)
    np.testing.assert_allclose(found, [ledger.pages[page].cash for page in pages], atol=1e-12)


def test_cash_cannot_be_worked_out_from_links():
    with pytest.raises(AssertionError, match="lost"):
        repair(Ledger(AOPIC()))
