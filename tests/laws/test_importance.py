"""The laws of cash, exactly, in fractions: under every scheme and window there is, after every event there is."""

from collections import Counter
from copy import deepcopy
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl import catalog, importance
from evercrawl.importance import AOPIC, Google, Internal, Lazy, Ledger, Push, Weighted, shares, windows
from evercrawl.importance.ledger.bounds import certificate, error_bound, least_tax
from evercrawl.importance.ledger.network import NetworkPage
from evercrawl.importance.ledger.orders import ORDERS

WINDOWS = catalog.find(windows, windows.Window)  # type: ignore[type-abstract]
SCHEMES = catalog.find(importance, importance.Importance)  # type: ignore[type-abstract]
SCHEMES |= {f"aopic-{name}": partial(AOPIC, window=window()) for name, window in WINDOWS.items()}
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


MATRICES = {
    "links": None,
    "google": Google(),
    "weighted": Weighted(),
    "spared": Weighted(spare=1),
    "internal": Internal(lambda page, to: site(page) == site(to), INTERNAL),
    "lazy": Lazy(Google()),
    "lazy-weighted": Lazy(Weighted()),
}


def row_of(name, targets):
    """Return links as a matrix reads them: some twice as heavy as others, some without any weight."""
    return {to: count * (to % 3) for to, count in Counter(targets).items()} if "weighted" in name else targets


CONVENTIONS = st.sampled_from(["tax", "link"])  # with the latter the virtual page is a link of each page, and untaxed


def begun(scheme, *, at_once=True, matrix=None, convention="tax"):
    """Return a ledger of six pages on three sites; where cash moves round, they have 1 together."""
    ledger = Ledger(scheme, at_once=at_once, site=site, matrix=matrix, convention=convention)
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
    held = ledger.pages.get(page, NetworkPage()).held
    if held is not None and held.through:
        ledger.alias(page, *held.external)
    elif page in ledger.pages:
        ledger.visit(page, held.targets if held else [])


def state(ledger):
    return ledger.pages, ledger.virtual, ledger.virtual_history, ledger.gone_history, ledger.total


def histories(ledger):
    return sum(page.history for page in ledger.pages.values()) + ledger.virtual_history + ledger.gone_history


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("name", SCHEMES)
@settings(deadline=None, max_examples=25)
@given(events=events, matrix=st.sampled_from([*MATRICES]), convention=CONVENTIONS)
def test_no_cash_is_made_or_lost(name, at_once, events, matrix, convention):
    tax, rows = (TAX, MATRICES[matrix]) if convention == "tax" else (Fraction(0), None)
    ledger = begun(SCHEMES[name](tax, INTERNAL), at_once=at_once, matrix=rows, convention=convention)
    for event in events:
        happen(ledger, event)
        assert isinstance(ledger.owed(), int | Fraction)
        assert ledger.owed() == 0
        assert histories(ledger) == ledger.total
    if ledger.scheme.handout:
        assert sum(page.cash for page in ledger.pages.values()) + ledger.virtual == 1
        assert min(page.cash for page in ledger.pages.values()) >= 0
        if at_once and any(page.weight for page in ledger.pages.values()):
            assert ledger.virtual == 0


SUMS = ["unbounded", "interpolation", "exponential"]  # windows whose estimate is a sum over what came


def counted(ledger, names, total):
    """Return how much the window counts of pages together, where the time before they were known counts as empty."""
    pages = [ledger.pages[name] for name in names]
    kept = np.array([page.past.kept or (0,) * ledger.scheme.width for page in pages], np.float64).reshape(
        len(pages), ledger.scheme.width
    )
    cash, history, mark, born = np.array([(p.cash, *p.past[:2], p.born) for p in pages], np.float64).T
    return float(ledger.scheme.importance(cash, history, mark, float(total), kept, born, 0.0).sum())


@pytest.mark.parametrize("window", WINDOWS)
@settings(deadline=None, max_examples=30)
@given(events=events, page=page, target=page, visits=st.lists(st.tuples(page, targets), min_size=4, max_size=12))
def test_a_page_counts_as_the_one_that_it_leads_to(window, events, page, target, visits):
    ledger = begun(AOPIC(TAX, INTERNAL, WINDOWS[window]()))
    for event in (*events, *(("visit", *visit) for visit in visits)):
        happen(ledger, event)
    has, to = ledger.pages[page], ledger.pages[target]
    if page == target or has.leads_on:
        return
    history, moves, total = has.history + to.history, has.cash, ledger.total
    cash, has_put_in = has.cash + to.cash, has.unmoved + to.unmoved
    window_counts = counted(ledger, (page, target), total)
    ledger.alias(page, target)
    assert (has.history, to.history, to.cash) == (moves, history, cash)
    assert (histories(ledger), ledger.owed()) == (ledger.total, 0)
    if window in SUMS and not has_put_in:
        assert counted(ledger, (target,), total) == pytest.approx(window_counts, rel=1e-9, abs=1e-12)
    if window == "unbounded":
        assert to.past.history == to.history


@pytest.mark.parametrize("matrix", MATRICES)
@settings(deadline=None, max_examples=20)
@given(events=events, convention=CONVENTIONS)
def test_value_and_residual_are_what_the_known_links_bring(matrix, events, convention):
    tax, rows = (TAX, MATRICES[matrix]) if convention == "tax" else (Fraction(0), None)
    ledger = begun(Push(tax, INTERNAL), matrix=rows, convention=convention)
    for event in events:
        happen(ledger, event)
        assert ledger.owed() == 0
        brought = ledger.inflow()
        for name, page in ledger.pages.items():
            assert page.history + page.cash == page.weight + brought[name]
            assert page.history == page.past.history


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("window", WINDOWS)
@settings(deadline=None, max_examples=4)
@given(graph=graphs, visits=st.integers(1, 16), at_once=st.booleans(), convention=CONVENTIONS)
def test_lemma_of_opic(window, matrix, order, graph, visits, at_once, convention):
    """On links that stay, history and cash are what was put in, and what parents and the virtual page gave."""
    convention = convention if matrix == "links" else "tax"
    scheme = AOPIC(TAX if convention == "tax" else Fraction(0), INTERNAL, WINDOWS[window]())
    ledger = begun(scheme, at_once=at_once, matrix=MATRICES[matrix], convention=convention)
    chosen = ORDERS[order](ledger)
    for count in range(visits):
        page = chosen.next()
        if order == "greedy":
            assert ledger.pages[page].cash == max(page.cash for page in ledger.pages.values())
        ledger.visit(page, row_of(matrix, graph[page] if page in PAGES else []))
        if count % 3 == 2:
            ledger.visit_virtual()
    brought = ledger.inflow()
    gave = sum(page.history for page in ledger.pages.values()) - sum(brought.values()) - ledger.virtual
    weights = sum(page.weight for page in ledger.pages.values())
    for name, page in ledger.pages.items():
        assert page.history + page.cash == page.put_in + brought[name] + gave * Fraction(page.weight, weights)
    assert at_once or gave == ledger.virtual_history
    assert histories(ledger) == ledger.total
    assert isinstance(ledger.owed(), Fraction)
    assert ledger.owed() == 0
    check_bounds(ledger)


def check_bounds(ledger):
    """See that one step changes the shares of history by at most 1/G anywhere, and by 2/G in all, as is certified."""
    moved = sum(page.history for page in ledger.pages.values())
    if not moved:
        return
    found = shares(ledger, "history")
    weights, brought = ledger.cells.weights, ledger.passed_on(found)
    left = 1 - sum(brought.values())
    changes = [abs(brought[n] + left * Fraction(p.weight, weights) - found[n]) for n, p in ledger.pages.items()]
    assert max(changes) <= 1 / Fraction(moved)
    assert sum(changes) <= 2 / Fraction(moved)
    assert certificate(ledger) == error_bound(ledger, found) == sum(changes) / least_tax(ledger)


def visited(matrix, graph, order, scheme, turns):
    """Return a ledger after some visits; all links are known, so that what is certain is about the same links."""
    ledger = begun(scheme(0.15, 0.1), matrix=MATRICES[matrix])
    for page in PAGES:
        ledger.visit(page, row_of(matrix, graph[page]))
    chosen = ORDERS[order](ledger)
    for _ in range(turns * 8):
        page = chosen.next()
        ledger.visit(page, row_of(matrix, graph[page] if page in PAGES else []))
    return ledger


@pytest.mark.parametrize("matrix", MATRICES)
@settings(deadline=None, max_examples=4)
@given(graph=graphs, scheme=st.sampled_from([Push, AOPIC]))
def test_importance_is_the_same_in_any_order_within_what_is_certain(matrix, graph, scheme):
    """The limit that every order tends to is that of push, which comes to an end."""

    truth = shares(visited(matrix, graph, "cycle", Push, 120), "paper")
    for order in ORDERS:
        ledger = visited(matrix, graph, order, scheme, 20)
        for estimate in ("history", "identity"):
            found = shares(ledger, estimate)
            off = sum(abs(found[page] - truth[page]) for page in truth)
            assert off <= error_bound(ledger, found) + 1e-9
        if scheme is AOPIC:
            off = sum(abs(shares(ledger, "history")[page] - truth[page]) for page in truth)
            assert off <= certificate(ledger) + 1e-9 <= 2 / (least_tax(ledger) * ledger.total) + 2e-9


RING = [[1], [2, 0], [3, 5], [4, 0], [5, 1], [0]]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("window", WINDOWS)
def test_whatever_the_window_importance_hovers_about_the_same_limit_in_any_order(window, order):
    """A window that forgets has no limit of its own; the mean of what it says has."""
    truth = shares(visited("links", RING, "cycle", Push, 120), "paper")
    ledger = visited("links", RING, order, lambda tax, internal: AOPIC(tax, internal, WINDOWS[window]()), 30)
    chosen, said = ORDERS[order](ledger), Counter()
    for _ in range(900):
        page = chosen.next()
        ledger.visit(page, RING[page])
        said.update(shares(ledger))
    assert sum(abs(said[page] / 900 - truth[page]) for page in truth) < 0.02


@pytest.mark.parametrize("matrix", ["links", "internal"])
@pytest.mark.parametrize("name", SCHEMES)
@settings(deadline=None, max_examples=8)
@given(events=events)
def test_whatever_of_the_journal_is_left_folds_to_what_was_then(name, matrix, events):
    """A crash may come after any event; what is left has all its cash."""
    whole, then = begun(SCHEMES[name](TAX, INTERNAL), matrix=MATRICES[matrix]), {}
    for event in events:
        then[len(whole.journal)] = deepcopy(state(whole))
        happen(whole, event)
    again = Ledger(SCHEMES[name](TAX, INTERNAL), site=site, matrix=MATRICES[matrix])
    for count, entry in enumerate(whole.journal):
        assert again.owed() == 0
        assert histories(again) == again.total
        assert state(again) == then.get(count, state(again))
        again.fold(entry)
    assert state(again) == state(whole)


@pytest.mark.parametrize("name", SCHEMES)
@settings(deadline=None, max_examples=10)
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
@settings(max_examples=10)
@given(graph=graphs, order=orders)
def test_links_to_itself_do_not_count_and_others_count_once(name, graph, order):
    said, meant = begun(SCHEMES[name](TAX, INTERNAL)), begun(SCHEMES[name](TAX, INTERNAL))
    for page in order:
        said.visit(page, graph[page] + graph[page])
        meant.visit(page, [target for target in dict.fromkeys(graph[page]) if target != page])
    assert state(said) == state(meant)
