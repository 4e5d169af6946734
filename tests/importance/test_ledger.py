"""The ledger: what is special about sites, aliases and the virtual page's ways."""

import numpy as np
import pytest

from evercrawl import catalog
from evercrawl.importance import windows
from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.ledger.estimates import shares
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.push import Push
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.unbounded import Unbounded

WINDOWS = catalog.find(windows, windows.Window)  # type: ignore[type-abstract]


def test_links_within_a_site_weigh_less_and_the_rest_goes_to_the_virtual_page():
    ledger = Ledger(Push(tax=0.0, internal=0.1), site=lambda page: page[0])
    ledger.add("a1")
    ledger.visit("a1", ["a2", "b1"])
    assert ledger.pages["a2"].cash == pytest.approx(0.05)
    assert ledger.pages["b1"].cash == pytest.approx(0.5)
    assert ledger.virtual == pytest.approx(0.45)


def test_an_alias_has_no_source_and_keeps_nothing():
    ledger = Ledger(Push(tax=0.5))
    ledger.add("a")
    ledger.add("b")
    ledger.visit("a", ["c"])
    ledger.alias("a", "b")
    assert (ledger.pages["a"].weight, ledger.pages["a"].history) == (0, 0.0)
    assert (ledger.pages["b"].cash, ledger.pages["c"].cash) == (1.0, 0.0)


def test_a_page_cannot_be_its_own_alias():
    ledger = Ledger(Push())
    ledger.add("a")
    with pytest.raises(AssertionError, match="nowhere"):
        ledger.alias("a", "a")


def test_virtual_cash_goes_by_weight_at_once_or_when_it_is_visited():
    for at_once in (True, False):
        ledger = Ledger(AOPIC(tax=0.5), at_once=at_once)
        ledger.add("a", weight=1, cash=1.0)
        ledger.add("b", weight=3)
        ledger.visit("a", [])
        if not at_once:
            assert (ledger.virtual, ledger.total) == (1.0, 1.0)
            ledger.visit_virtual()
        assert (ledger.pages["a"].cash, ledger.pages["b"].cash) == (0.25, 0.75)
        assert ledger.total == (1.0 if at_once else 2.0)
        assert ledger.virtual_history == (0 if at_once else 1.0)


def test_one_more_link_is_no_tax():
    with pytest.raises(AssertionError, match="one more link"):
        Ledger(Push(), convention="link")
    ledger = Ledger(Push(tax=0.0), convention="link")
    ledger.add("a")
    ledger.visit("a", ["b", "c"])
    assert ledger.pages["b"].cash == pytest.approx(1 / 3) == ledger.virtual


def test_estimates():
    ledger = Ledger(AOPIC(tax=0.0, window=Unbounded()))
    ledger.add("a", cash=0.75)
    ledger.add("b", cash=0.25)
    ledger.visit("a", ["b"])
    assert shares(ledger, "history") == {"a": 1.0, "b": 0.0}
    assert shares(ledger, "paper") == pytest.approx({"a": 0.75 / 1.75, "b": 1 / 1.75})
    assert shares(ledger, "identity") == {"a": 0.0, "b": 1.0}
    assert shares(ledger) == pytest.approx(shares(ledger, "paper"))


def test_an_alias_gives_all_it_has_and_its_history_untaxed():
    ledger = Ledger(AOPIC(tax=0.5, window=Unbounded()))
    for page in "abc":
        ledger.add(page, cash=1 / 4 if page == "a" else 3 / 8)
    ledger.visit("a", ["c"])
    ledger.visit("b", [])
    moved = ledger.pages["a"].history
    cash = {name: page.cash for name, page in ledger.pages.items()}
    ledger.alias("a", "b")
    assert ledger.pages["b"].history == pytest.approx(3 / 8 + 1 / 24 + moved)
    assert ledger.pages["b"].cash == pytest.approx(cash["b"] + cash["a"])
    assert (ledger.pages["a"].cash, ledger.pages["a"].history) == (0, cash["a"])
    assert set(shares(ledger, "history")) == {"b", "c"}
    assert sum(page.history for page in ledger.pages.values()) == pytest.approx(ledger.total)


def test_the_end_of_a_page_leaves_the_clock_as_it_is():
    ledger = Ledger(AOPIC(tax=0.5))
    ledger.add("a", cash=0.5)
    ledger.add("b", cash=0.5)
    ledger.visit("a", ["b"])
    ledger.remove("a")
    assert (ledger.total, ledger.gone_history) == (0.5, 0.5)
    assert (ledger.pages["a"].history, ledger.pages["a"].cash, ledger.pages["b"].cash) == (0, 0, 1.0)


@pytest.mark.parametrize("scheme", [AOPIC(tax=0.5), Push(tax=0.5)])
def test_a_page_that_has_ended_weighs_nothing_whatever_links_bring_until_it_comes_back(scheme):
    ledger = Ledger(scheme)
    for name in "abc":
        ledger.add(name, cash=scheme.handout / 3)
    for _ in range(3):
        ledger.visit("a", ["b", "c"])
        ledger.visit("b", ["a"])
        ledger.visit("c", ["a"])
    before = shares(ledger)
    ledger.remove("b")
    ledger.visit("a", ["b", "c"])
    assert ledger.pages["b"].cash > 0
    after = shares(ledger)
    assert after["b"] == 0
    assert after["a"] + after["c"] == pytest.approx(1)
    ledger.add("b")
    ledger.visit("b", ["a"])
    assert shares(ledger)["b"] > before["b"] / 10


def test_whatever_the_window_the_plain_history_is_kept():
    estimates = []
    for window in (Unbounded(), Interpolation(0.5)):
        ledger = Ledger(AOPIC(tax=0.25, window=window))
        ledger.add("a", cash=0.5)
        ledger.add("b", cash=0.5)
        for turn in range(7):
            ledger.visit("ab"[turn % 2], "ba"[turn % 2])
        estimates.append([shares(ledger, estimate) for estimate in ("history", "paper", "identity")])
        scheme = shares(ledger)
    assert estimates[0] == estimates[1]
    assert scheme != estimates[1][1]


def test_links_are_known_pages_even_where_there_was_nothing_to_give():
    ledger = Ledger(AOPIC())
    ledger.add("a")
    ledger.visit("a", ["b"])
    assert list(ledger.pages) == ["a", "b"]


def test_cash_that_was_put_in_is_told_until_it_is_moved():
    told = []

    class Listening(Unbounded):
        def add(self, page, now):  # noqa: ANN202
            told.append(page.put_in)
            return super().add(page, now)

    ledger = Ledger(AOPIC(tax=0.5, window=Listening()))
    ledger.add("a", cash=0.25)
    ledger.add("a", cash=0.25)
    ledger.visit("a", [])
    ledger.visit("a", [])
    ledger.add("a", cash=1.0)
    ledger.visit("a", [])
    assert told == [0.5, 0, 1.0]


@pytest.mark.parametrize("kind", WINDOWS)
def test_whatever_the_window_a_page_is_at_once_worth_what_its_alias_was(kind):
    """In a ring that is visited in turn all pages gain the same; the one visited last has little cash to pass on."""
    ledger = Ledger(AOPIC(tax=0.15, window=WINDOWS[kind]()))
    pages = "abcdef"
    for page in pages:
        ledger.add(page, cash=1 / 6)
    for turn in range(121):
        ledger.visit(pages[turn % 6], [pages[(turn + 1) % 6]])
    assert estimates(ledger)["d"] < 0.25
    ledger.alias("a", "d")
    assert estimates(ledger)["d"] == pytest.approx(1 / 3, rel=0.15)
    assert shares(ledger)["d"] == pytest.approx(1 / 3, rel=0.2)


def estimates(ledger):
    """Return what the window says of each page, in shares of all cash a unit of G."""
    columns = np.array([(page.cash, *page.past[:2], page.born) for page in ledger.pages.values()], float).T
    kept = np.array([page.past.kept for page in ledger.pages.values()], float).reshape(len(ledger.pages), -1)
    found = ledger.scheme.importance(*columns[:3], ledger.total, kept, columns[3])
    return dict(zip(ledger.pages, found.tolist(), strict=True))


def test_a_window_is_passed_on_once_and_a_page_that_is_one_again_begins_anew():
    ledger = Ledger(AOPIC(tax=0.0, window=Interpolation(100.0)))
    for page in "abc":
        ledger.add(page, cash=1 / 3)
    for turn in range(30):
        ledger.visit("abc"[turn % 3], "bca"[turn % 3])
    window = ledger.pages["a"].past.history
    had = ledger.pages["b"].past.history
    assert min(window, had) > 1.0
    ledger.alias("a", "b")
    joined = ledger.pages["b"].past
    assert joined.history == pytest.approx(window + had, rel=0.05)
    ledger.alias("a", "b")
    assert ledger.pages["b"].past == joined
    ledger.visit("a", "c")
    assert ledger.pages["b"].past == joined
    assert ledger.pages["a"].past.history == pytest.approx(1.0)  # what it moved as an alias
