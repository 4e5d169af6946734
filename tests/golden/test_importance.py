"""Importance against reference values: vectors, the steps of OPIC and of push, and the window by interpolation."""

import json
import os
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from evercrawl.importance import offline
from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Account
from evercrawl.importance.estimates import shares
from evercrawl.importance.ledger import Ledger
from evercrawl.importance.offline import Graph
from evercrawl.importance.push import Push
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.unbounded import Unbounded

pytestmark = pytest.mark.golden
REFS = Path(os.environ.get("EVERCRAWL_REFS", Path(__file__).parent / "refs"))
REFERENCE = json.loads((REFS / "importance.json").read_text("utf-8"))
GRAPHS = REFERENCE["graphs"]
NEAR = {"rtol": 1e-12, "atol": 1e-13}  # printed with 17 digits
NOT_OURS = {
    "growth": "the paper's first guess for newcomers; ours count with the cash they have",
    "exp": "another window; the crawl's is the interpolation",
    "exp_bias_corrected": "another window",
    "variable_k": "another window",
    "fixed_T": "another window",
    "improved_fixed_min3": "another window",
    "n_in_window": "another window",
}


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


def expect(found, entry):
    np.testing.assert_allclose(found, entry["pages"], **NEAR)


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


def check_virtual(graph, each, entry):
    kept = 1 - each * graph.out  # of a page's value, by the virtual page
    virtual = float(np.dot(kept, entry["pages"]))
    if "virtual_share" in entry:
        assert virtual / (1 + virtual) == pytest.approx(entry["virtual_share"], rel=1e-12)


def check_damped(g, kind, entry):
    raw = "_deduped_no_self" not in kind
    edges = [(source, target) for source, target in g["edges"]]
    graph = Graph.of(g["n"], edges, raw=raw)
    links = [[target for source, target in edges if source == page] for page in range(g["n"])]
    if kind == "link":
        each, scheme, convention = 1 / (graph.out + 1), Push(tax=0), "link"
    else:
        tax = float(re.match(r"tax_([\d.]+)", kind)[1])
        each, scheme, convention = offline.damped(graph, tax), Push(tax=tax), "tax"
    expect(offline.importance(graph, each, biases(kind, g["n"])), entry)
    expect(pushed(graph, links, kind, scheme, convention, raw=raw), entry)
    check_virtual(graph, each, entry)


def check_no_virtual(g, kind, entry):
    graph = Graph.of(g["n"], g["edges"], raw=True)
    found, factor = offline.principal(lambda x: graph.pass_on(x, offline.damped(graph, 0)), g["n"])
    expect(found, entry)
    assert factor == pytest.approx(1)


def check_eps(g, kind, entry):
    graph = Graph.of(g["n"], g["edges"], raw=True)
    part = float(re.match(r"eps_edges_([\d.]+)_over_n", kind)[1])
    expect(offline.patched(graph, offline.damped(graph, 0), part)[0], entry)


def check_kleinberg(g, kind, entry):
    graph = Graph.of(g["n"], g["edges"], raw=True)
    found, factor = offline.authority(graph)
    assert factor == pytest.approx(entry["eigenvalue"], rel=1e-12)
    if entry["gap"] > 1e-9:
        expect(found, entry)
    else:  # one of many: it has to keep its direction
        pages = np.array(entry["pages"])
        kept = graph.pass_on(graph.pass_back(pages), np.ones(g["n"]))
        np.testing.assert_allclose(kept, entry["eigenvalue"] * pages, **NEAR)


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
    assert check or kind in NOT_OURS, f"nothing of ours works out {kind!r}"
    if check:
        check(graph, kind, graph["importance"][kind])


# Steps of OPIC


def out_of(g):
    return {page: [t for s, t in g["edges"] if s == page] for page in range(g["n"])}


def opic(g, trace):
    assert trace["initial_cash"].startswith("1/n per real page")
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
        cash, _ = columns(ledger, trace, pages)
        page = choose(trace, count, cash)
        assert (page, float(cash[page])) == (step["page"], pytest.approx(step["moved"], rel=1e-15))
        if page == pages:
            ledger.visit_virtual()
        else:
            ledger.visit(page, links[page])
        cash, history = columns(ledger, trace, pages)
        assert [float(c) for c in cash] == pytest.approx(step["cash"], rel=1e-15, abs=0)
        assert [float(h) for h in history] == pytest.approx(step["history"], rel=1e-15, abs=0)
        assert float(ledger.total) == pytest.approx(step["G"], rel=1e-15)
    assert cash == [Fraction(c) for c in trace["final_cash_exact"]]
    assert ledger.total == Fraction(trace["final_G_exact"])
    check_estimates(ledger, trace)


def check_estimates(ledger, trace):
    for ours, theirs in (("history", "H_over_G"), ("paper", "H_plus_C"), ("identity", "identity")):
        worth = np.array(trace[f"estimate_{theirs}"])
        found = shares(ledger, ours)
        assert [float(found[page]) for page in sorted(found)] == pytest.approx(worth / worth.sum(), rel=1e-14)
    whole = [float(found) for found in shares(ledger).values()]  # without a window the scheme says what the paper does
    assert whole == pytest.approx([float(found) for found in shares(ledger, "paper").values()], rel=1e-14)


# Steps of push


@pytest.mark.parametrize(("graph", "trace"), each_of(GRAPHS, "push_traces"))
def test_steps_of_push(graph, trace):
    rule = re.fullmatch(r"greedy on \|r\|, ties smallest id; tax (\d+/\d+); source 1/n", trace["rule"])
    links, pages = out_of(graph), graph["n"]
    ledger = Ledger(Push(Fraction(rule[1]), internal=1), raw=True)
    for page in range(pages):
        ledger.add(page, weight=Fraction(1, pages))
    for count, step in enumerate(trace["steps"]):
        if trace["change"] and count == trace["change"][0]:
            page = trace["change"][1]
            links[page] = trace["change"][2]
            assert step["event"] == "relink"
            ledger.relink(page, links[page])
        else:
            left = [abs(ledger.pages[page].cash) for page in range(pages)]
            page = left.index(max(left))
            assert step["event"] == "push"
            assert float(ledger.pages[page].cash) == pytest.approx(step["moved"], rel=1e-15)
            ledger.visit(page, links[page])
        assert page == step["page"]
        assert [float(ledger.pages[p].history) for p in range(pages)] == pytest.approx(step["x"], rel=1e-15, abs=0)
        assert [float(ledger.pages[p].cash) for p in range(pages)] == pytest.approx(step["r"], rel=1e-15, abs=0)
    found = [shares(ledger, "paper")[page] for page in range(pages)]
    assert [float(share) for share in found] == pytest.approx(trace["estimate"], rel=1e-14)
    after = Graph.of(pages, [(page, target) for page in range(pages) for target in links[page]], raw=True)
    exact = offline.importance(after, offline.damped(after, float(Fraction(rule[1]))))
    np.testing.assert_allclose(exact, trace["exact_after"], **NEAR)


# The window


@pytest.mark.parametrize("table", REFERENCE["windows"], ids=lambda table: f"T={table['T']}")
def test_window_by_interpolation(table):
    window = Interpolation(table["T"])
    page = weight = Account(0, 0.0)
    for row in table["rows"]:
        elapsed = row["G"] - page.mark
        page = Account(0, *window.add(page._replace(cash=row["cash"]), row["G"]))
        weight = Account(0, *window.add(weight._replace(cash=elapsed), row["G"]))  # what a steady 1 would have come to
        ours = {
            "branch": "G-G[i]<T" if elapsed < table["T"] else "G-G[i]>=T",
            "H_interp": pytest.approx(page.history, rel=1e-14),
            "interp": pytest.approx(page.history / table["T"], rel=1e-14),
            "interp_bias_corrected": pytest.approx(page.history / weight.history, rel=1e-14),
        }
        assert {name: row[name] for name in ours} == ours
        assert set(row) - set(ours) - {"G", "cash"} <= set(NOT_OURS)


def test_nothing_else_is_there_to_compare():
    assert set(REFERENCE) - {"kind", "notes", "graphs", "windows"} <= set(NOT_OURS)
    described = {"name", "n", "edges", "strongly_connected_components", "aperiodic"}
    for graph in GRAPHS:
        assert set(graph) - described <= {"importance", "traces", "push_traces"}
    assert GRAPHS
    assert REFERENCE["windows"]
