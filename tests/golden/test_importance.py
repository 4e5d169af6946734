"""Importance against reference values: vectors, and the steps of OPIC and of push.

Whatever else stands in a table fails the run: `whole` is asked for all the keys of an entry, by name.
"""

import json
import os
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from evercrawl.importance import offline
from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.ledger.estimates import shares
from evercrawl.importance.ledger.kleinberg import Kleinberg
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.offline import Graph
from evercrawl.importance.push import Push
from evercrawl.importance.windows.unbounded import Unbounded

pytestmark = pytest.mark.golden
REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
REFERENCE = json.loads((REFS / "importance.json").read_text("utf-8"))
GRAPHS = REFERENCE["graphs"]
NEAR = {"rtol": 1e-12, "atol": 1e-13}  # printed with 17 digits


def whole(entry, keys, maybe=""):
    """Return the values of an entry that has these keys and no others; None for those of `maybe` that it has not."""
    assert set(entry) - set(maybe.split()) == set(keys.split()), "a key that nothing of ours is compared with"
    return [entry.get(key) for key in f"{keys} {maybe}".split()]


def each_of(graphs, key):
    return [pytest.param(g, item, id=f"{g['name']}-{n}") for g in graphs for n, item in enumerate(g.get(key, []))]


ENTRIES = [pytest.param(g, kind, id=f"{g['name']}-{kind}") for g in GRAPHS for kind in g["importance"]]


# Vectors


def biases(kind, pages):
    """Return the virtual page's weights of `biased_0:0.7_last:0.3`, or equal ones."""
    found = re.search(r"_biased_(.*)", kind)
    if not found:
        return np.full(pages, 1 / pages)
    weights = np.zeros(pages)
    for page, weight in (part.split(":") for part in found[1].split("_")):
        weights[pages - 1 if page == "last" else int(page)] += float(weight)
    return weights


def expect(found, pages):
    np.testing.assert_allclose(found, pages, **NEAR)


def pushed(graph, links, kind, scheme, convention, *, raw):
    """Return importance by pushing in cycle until nothing is left."""
    ledger = Ledger(scheme, convention=convention, raw=raw)
    for page, weight in enumerate(biases(kind, graph.pages).tolist()):
        ledger.add(page, weight=weight)
    while sum(abs(page.cash) for page in ledger.pages.values()) > 1e-14:
        for page in range(graph.pages):
            ledger.visit(page, links[page])
    found = shares(ledger)
    return [found[page] for page in range(graph.pages)]


def check_virtual(graph, each, pages, share):
    kept = 1 - each * graph.out  # of a page's value, by the virtual page
    virtual = float(np.dot(kept, pages))
    assert share is None or virtual / (1 + virtual) == pytest.approx(share, rel=1e-12)


def check_damped(g, kind, entry):
    pages, share = whole(entry, "pages", maybe="virtual_share")
    raw = "_deduped_no_self" not in kind
    edges = [(source, target) for source, target in g["edges"]]
    graph = Graph.of(g["n"], edges, raw=raw)
    links = [[target for source, target in edges if source == page] for page in range(g["n"])]
    if kind == "link":
        each, scheme, convention = 1 / (graph.out + 1), Push(tax=0), "link"
    else:
        tax = float(re.match(r"tax_([\d.]+)", kind)[1])
        each, scheme, convention = offline.damped(graph, tax), Push(tax=tax), "tax"
    expect(offline.importance(graph, each, biases(kind, g["n"])), pages)
    expect(pushed(graph, links, kind, scheme, convention, raw=raw), pages)
    check_virtual(graph, each, pages, share)


def check_no_virtual(g, kind, entry):
    graph = Graph.of(g["n"], g["edges"], raw=True)
    found, factor = offline.principal(lambda x: graph.pass_on(x, offline.damped(graph, 0)), g["n"])
    expect(found, *whole(entry, "pages"))
    assert factor == pytest.approx(1)
    assert g["strongly_connected_components"] == 1, "else there would be more than one answer"


def check_eps(g, kind, entry):
    graph = Graph.of(g["n"], g["edges"], raw=True)
    part = float(re.match(r"eps_edges_([\d.]+)_over_n", kind)[1])
    expect(offline.patched(graph, offline.damped(graph, 0), part)[0], *whole(entry, "pages"))


def check_kleinberg(g, kind, entry):
    graph, (pages, eigenvalue, gap) = Graph.of(g["n"], g["edges"], raw=True), whole(entry, "pages eigenvalue gap")
    found, factor = offline.authority(graph)
    assert factor == pytest.approx(eigenvalue, rel=1e-12)
    links = np.zeros((g["n"], g["n"]))
    np.add.at(links, tuple(np.array(g["edges"]).T), 1.0)
    second, first = np.linalg.eigvalsh(links.T @ links)[-2:]
    assert gap == pytest.approx(first - second, rel=1e-12, abs=1e-12)
    if gap > 1e-9:
        expect(found, pages)
        expect(learned(g), pages)
    else:  # one of many: it has to keep its direction
        kept = graph.pass_on(graph.pass_back(np.array(pages)), np.ones(g["n"]))
        expect(kept, eigenvalue * np.array(pages))


def learned(g):
    """Return authorities learned page by page."""
    ranks = Kleinberg()
    for page, targets in out_of(g).items():
        ranks.read(page, targets)
    for _ in range(600):
        ranks.turn()
    return [ranks.authorities()[page] for page in range(g["n"])]


CHECKS = {
    r"tax_[\d.]+(_deduped_no_self|_biased_.*)?": check_damped,
    r"link": check_damped,
    r"no_virtual": check_no_virtual,
    r"eps_edges_[\d.]+_over_n": check_eps,
    r"kleinberg_authority": check_kleinberg,
}


@pytest.mark.parametrize(("graph", "kind"), ENTRIES)
def test_vectors(graph, kind):
    check = next((check for pattern, check in CHECKS.items() if re.fullmatch(pattern, kind)), None)
    assert check, f"nothing of ours works out {kind!r}"
    check(graph, kind, graph["importance"][kind])


@pytest.mark.parametrize("graph", [pytest.param(g, id=g["name"]) for g in GRAPHS])
def test_what_kind_of_graph_it_is(graph):
    """Of a graph in one piece, plain steps settle if it has no period; with the page's own part added, always."""
    links = Graph.of(graph["n"], graph["edges"], raw=True)
    matrix = coo_array((np.ones(len(links.source)), (links.source, links.target)), shape=(graph["n"],) * 2)
    pieces, _ = connected_components(matrix, connection="strong")
    assert pieces == graph["strongly_connected_components"]
    assert (graph["aperiodic"] is None) == (pieces > 1)
    if pieces == 1:
        step = np.arange(1.0, graph["n"] + 1)
        for _ in range(10_000):
            step, before = links.pass_on(step, offline.damped(links, 0)), step
        assert bool(np.allclose(step, before)) is graph["aperiodic"]


# Steps of OPIC


def out_of(g):
    return {page: [t for s, t in g["edges"] if s == page] for page in range(g["n"])}


TRACE = ("policy", "convention", "virtual", "tie_break", "initial_cash", "steps", "final_cash_exact", "final_G_exact")
ESTIMATES = {"estimate_H_over_G": "history", "estimate_H_plus_C": "paper", "estimate_identity": "identity"}


def opic(g, trace):
    whole(trace, " ".join((*TRACE, *ESTIMATES)))
    assert trace["initial_cash"].startswith("1/n per real page")
    assert trace["tie_break"] == "smallest id"
    assert trace["virtual"] in ("explicit", "implicit", "none")
    taxed = trace["convention"] == "tax" and trace["virtual"] != "none"
    scheme = AOPIC(Fraction(3, 20) if taxed else Fraction(0), internal=1, window=Unbounded())
    convention = "link" if trace["convention"] == "link" else "tax"
    ledger = Ledger(scheme, convention=convention, at_once=trace["virtual"] != "explicit", raw=True)
    for page in range(g["n"]):
        ledger.add(page, cash=Fraction(1, g["n"]))
    return ledger


def choose(trace, count, cash):
    if trace["policy"] == "cycle":
        return count % len(cash)
    assert trace["policy"] == "greedy"
    return cash.index(max(cash))


def columns(ledger, trace, pages):
    """Return cash and history, those of a virtual page that is visited last."""
    cash = [ledger.pages[page].cash for page in range(pages)]
    history = [ledger.pages[page].history for page in range(pages)]
    if trace["virtual"] != "explicit":
        return cash, history
    return [*cash, ledger.virtual], [*history, ledger.virtual_history]


@pytest.mark.parametrize(("graph", "trace"), each_of(GRAPHS, "traces"))
def test_steps_of_opic(graph, trace):
    ledger, links, pages = opic(graph, trace), out_of(graph), graph["n"]
    for count, step in enumerate(trace["steps"]):
        chosen, moved, clock, cash_after, history_after = whole(step, "page moved G cash history")
        cash, _ = columns(ledger, trace, pages)
        page = choose(trace, count, cash)
        assert (page, float(cash[page])) == (chosen, pytest.approx(moved, rel=1e-15, abs=0))
        if page == pages:
            ledger.visit_virtual()
        else:
            ledger.visit(page, links[page])
        cash, history = columns(ledger, trace, pages)
        assert [float(c) for c in cash] == pytest.approx(cash_after, rel=1e-15, abs=0)
        assert [float(h) for h in history] == pytest.approx(history_after, rel=1e-15, abs=0)
        assert float(ledger.total) == pytest.approx(clock, rel=1e-15, abs=0)
    assert cash == [Fraction(c) for c in trace["final_cash_exact"]]
    assert ledger.total == Fraction(trace["final_G_exact"])
    check_estimates(ledger, trace)


def check_estimates(ledger, trace):
    for theirs, ours in ESTIMATES.items():
        worth = np.array(trace[theirs])
        found = shares(ledger, ours)
        assert [float(found[page]) for page in sorted(found)] == pytest.approx(worth / worth.sum(), rel=1e-13, abs=0)
    whole = [float(found) for found in shares(ledger).values()]  # without a window the scheme says what the paper does
    assert whole == pytest.approx([float(found) for found in shares(ledger, "paper").values()], rel=1e-14)


# Steps of push


@pytest.mark.parametrize(("graph", "trace"), each_of(GRAPHS, "push_traces"))
def test_steps_of_push(graph, trace):
    rule, change, steps, estimate, exact_after = whole(trace, "rule change steps estimate exact_after")
    rule = re.fullmatch(r"greedy on \|r\|, ties smallest id; tax (\d+/\d+); source 1/n", rule)
    links, pages = out_of(graph), graph["n"]
    ledger = Ledger(Push(Fraction(rule[1]), internal=1), raw=True)
    for page in range(pages):
        ledger.add(page, weight=Fraction(1, pages))
    for count, step in enumerate(steps):
        if change and count == change[0]:
            _, page, links[page] = change
            event, chosen, value, left_after = whole(step, "event page x r")
            assert event == "relink"
            ledger.relink(page, links[page])
        else:
            left = [abs(ledger.pages[page].cash) for page in range(pages)]
            page = left.index(max(left))
            event, chosen, moved, value, left_after = whole(step, "event page moved x r")
            assert event == "push"
            assert float(ledger.pages[page].cash) == pytest.approx(moved, rel=1e-15, abs=0)
            ledger.visit(page, links[page])
        assert page == chosen
        assert [float(ledger.pages[p].history) for p in range(pages)] == pytest.approx(value, rel=1e-15, abs=0)
        assert [float(ledger.pages[p].cash) for p in range(pages)] == pytest.approx(left_after, rel=1e-15, abs=0)
    found = [shares(ledger, "paper")[page] for page in range(pages)]
    assert [float(share) for share in found] == pytest.approx(estimate, rel=1e-13, abs=0)
    after = Graph.of(pages, [(page, target) for page in range(pages) for target in links[page]], raw=True)
    exact = offline.importance(after, offline.damped(after, float(Fraction(rule[1]))))
    np.testing.assert_allclose(exact, exact_after, **NEAR)


# Nothing is left over


def test_every_section_is_read():
    assert set(REFERENCE) - {"kind", "notes"} == {"graphs", "windows", "growth"}, "the latter two beside this file"
    assert GRAPHS


@pytest.mark.parametrize("graph", [pytest.param(g, id=g["name"]) for g in GRAPHS])
def test_every_key_of_a_graph_is_read(graph):
    described = {"name", "n", "edges", "strongly_connected_components", "aperiodic"}
    assert set(graph) - described <= {"importance", "traces", "push_traces"}
    assert described <= set(graph)
