"""The laws of cash, exactly, in fractions: under every scheme in the catalogue, after every event that there is."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl import catalog, importance
from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.ledger import Ledger
from evercrawl.importance.network import Page
from evercrawl.importance.push import Push
from evercrawl.importance.windows.unbounded import Unbounded

SCHEMES = catalog.find(importance, importance.Importance)  # type: ignore[type-abstract]
PAGES = range(6)
TAX, INTERNAL = Fraction(3, 20), Fraction(1, 10)

page = st.integers(0, 5)
targets = st.lists(st.integers(0, 7), max_size=6)  # two that nobody added; to itself, twice
events = st.lists(
    st.one_of(
        st.tuples(st.just("visit"), page, targets),
        st.tuples(st.just("again"), page),
        st.tuples(st.just("relink"), page, targets),
        st.tuples(st.just("alias"), page, page),
        st.tuples(st.just("remove"), page),
        st.tuples(st.just("add"), page, st.integers(1, 3)),
        st.tuples(st.just("virtual")),
    ),
    max_size=24,
)
graphs = st.lists(targets, min_size=6, max_size=6)
orders = st.lists(page, max_size=24)


def site(page):
    return page // 2


def begun(scheme, *, at_once=True):
    """Return a ledger of six pages on three sites; where cash moves round, they have 1 together."""
    ledger = Ledger(scheme, at_once=at_once, site=site)
    for page in PAGES:
        ledger.add(page, weight=1 + page % 2, cash=Fraction(1, 6) if scheme.handout else 0)
    return ledger


def happen(ledger, event):
    kind, *what = event
    if kind == "again":
        again(ledger, *what)
    elif kind == "virtual":
        if ledger.scheme.handout:
            ledger.visit_virtual()
    elif kind != "alias" or what[0] != what[1]:
        getattr(ledger, kind)(*what)


def again(ledger, page):
    """Visit a page whose links are those that are known."""
    held = ledger.pages.get(page, Page()).held
    if held is not None and held.through:
        ledger.alias(page, *held.external)
    elif page in ledger.pages:
        ledger.visit(page, [*held.internal, *held.external] if held else [])


def state(ledger):
    return ledger.pages, ledger.virtual, ledger.virtual_history, ledger.total


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("name", SCHEMES)
@settings(deadline=None)
@given(events=events)
def test_no_cash_is_made_or_lost(name, at_once, events):
    ledger = begun(SCHEMES[name](TAX, INTERNAL), at_once=at_once)
    for event in events:
        happen(ledger, event)
        assert isinstance(ledger.owed(), int | Fraction)
        assert ledger.owed() == 0
    if ledger.scheme.handout:
        assert sum(page.cash for page in ledger.pages.values()) + ledger.virtual == 1
        assert min(page.cash for page in ledger.pages.values()) >= 0
        if at_once and any(page.weight for page in ledger.pages.values()):
            assert ledger.virtual == 0


@settings(deadline=None)
@given(events=events)
def test_value_and_residual_are_what_the_known_links_bring(events):
    ledger = begun(Push(TAX, INTERNAL))
    for event in events:
        happen(ledger, event)
        brought = ledger.inflow()
        for name, page in ledger.pages.items():
            assert page.history + page.cash == page.weight + brought[name]


@pytest.mark.parametrize("at_once", [True, False])
@settings(deadline=None)
@given(graph=graphs, order=orders)
def test_lemma_of_opic(graph, order, at_once):
    """On links that stay, history and cash are what was put in, and what parents and the virtual page gave."""
    ledger = begun(AOPIC(TAX, INTERNAL, window=Unbounded()), at_once=at_once)
    for count, page in enumerate(order):
        ledger.visit(page, graph[page])
        if count % 3 == 2:
            ledger.visit_virtual()
    brought = ledger.inflow()
    gave = sum(page.history for page in ledger.pages.values()) - sum(brought.values()) - ledger.virtual
    weights = sum(page.weight for page in ledger.pages.values())
    for name, page in ledger.pages.items():
        assert page.history + page.cash == page.put_in + brought[name] + gave * Fraction(page.weight, weights)
    assert at_once or gave == ledger.virtual_history
    assert sum(page.history for page in ledger.pages.values()) + ledger.virtual_history == ledger.total


@pytest.mark.parametrize("name", SCHEMES)
@settings(deadline=None)
@given(events=events, crash=st.integers(0, 24))
def test_a_crash_is_undone_by_the_journal(name, events, crash):
    whole = begun(SCHEMES[name](TAX, INTERNAL))
    for event in events:
        happen(whole, event)
    crashed = begun(SCHEMES[name](TAX, INTERNAL))
    for event in events[:crash]:
        happen(crashed, event)
    again = Ledger(SCHEMES[name](TAX, INTERNAL), site=site)
    for entry in crashed.journal:
        again.fold(entry)
    assert state(again) == state(crashed)
    for event in events[crash:]:
        happen(again, event)
    assert state(again) == state(whole)


@settings(deadline=None, max_examples=25)
@given(events=events, first=st.permutations(range(8)), second=st.permutations(range(8)))
def test_push_ends_the_same_in_any_order(events, first, second):
    """Whatever happened, the links known last decide; pages that only lead on must not do so in a ring."""
    ends = []
    for order in (first, second):
        ledger = begun(Push(0.15, 0.1))
        for event in events:
            if event[0] != "alias" or event[1] > event[2]:
                happen(ledger, event)
        for _ in range(150):
            for page in order:
                happen(ledger, ("again", page))
        assert sum(abs(page.cash) for page in ledger.pages.values()) < 1e-8
        ends.append({name: page.history for name, page in ledger.pages.items()})
    assert ends[0] == pytest.approx(ends[1], abs=1e-8)


@pytest.mark.parametrize("name", SCHEMES)
@given(graph=graphs, order=orders)
def test_links_to_itself_do_not_count_and_others_count_once(name, graph, order):
    said, meant = begun(SCHEMES[name](TAX, INTERNAL)), begun(SCHEMES[name](TAX, INTERNAL))
    for page in order:
        said.visit(page, graph[page] + graph[page])
        meant.visit(page, [target for target in dict.fromkeys(graph[page]) if target != page])
    assert state(said) == state(meant)
