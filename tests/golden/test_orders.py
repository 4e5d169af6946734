"""Orders of visits against the reference values: who is next at each step, ties included."""

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from evercrawl.importance import AOPIC, Ledger, Push
from evercrawl.importance.ledger.orders import ORDERS

pytestmark = pytest.mark.golden
REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
GRAPHS = json.loads((REFS / "importance.json").read_text("utf-8"))["graphs"]
TAX = Fraction(3, 20)


def follow(graph, steps, scheme, order, convention="tax"):
    """Take the steps that the order says, and see that they are those of the trace, to the same amounts."""
    ledger = Ledger(scheme, raw=True, convention=convention)
    for page in range(graph["n"]):
        share = Fraction(1, graph["n"])
        ledger.add(page, share, share if scheme.handout else 0)
    chosen = ORDERS[order](ledger)
    for step in steps:
        page = chosen.next()
        assert page == step["page"]
        assert float(ledger.pages[page].cash) == pytest.approx(step["moved"], rel=1e-15, abs=0)
        ledger.visit(page, [to for at, to in graph["edges"] if at == page])
    return ledger


TRACES = [(graph, trace) for graph in GRAPHS for trace in graph.get("traces", []) if trace["virtual"] != "explicit"]


@pytest.mark.parametrize(("graph", "trace"), TRACES)
def test_opic(graph, trace):
    taxed = trace["convention"] == "tax" and trace["virtual"] == "implicit"
    convention = "link" if trace["convention"] == "link" else "tax"
    scheme = AOPIC(TAX if taxed else Fraction(0), internal=1)
    ledger = follow(graph, trace["steps"], scheme, trace["policy"], convention)
    cash = [ledger.pages[page].cash for page in range(graph["n"])]
    assert cash == [Fraction(c) for c in trace["final_cash_exact"]]


PUSHES = [(g, trace) for g in GRAPHS for trace in g.get("push_traces", []) if not trace["change"]]


@pytest.mark.parametrize(("graph", "trace"), PUSHES)
def test_push(graph, trace):
    assert trace["rule"].startswith("greedy on |r|, ties smallest id")
    follow(graph, trace["steps"], Push(TAX, internal=1), "greedy")
