"""Authorities learned by two-hop pushes, and small edges between all pages, against reference values."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from evercrawl.importance import Google, Ledger, Push, Weighted, shares
from evercrawl.importance.ledger.kleinberg import Kleinberg
from evercrawl.importance.ledger.matrices import tax_of_small_edges

pytestmark = pytest.mark.golden
REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
GRAPHS = json.loads((REFS / "importance.json").read_text("utf-8"))["graphs"]
NEAR = {"rtol": 1e-12, "atol": 1e-13}


def out_of(graph):
    return [[to for at, to in graph["edges"] if at == page] for page in range(graph["n"])]


def entries(pattern, graphs=GRAPHS):
    return [
        pytest.param(graph, kind, id=f"{graph['name']}-{kind}")
        for graph in graphs
        for kind in graph["importance"]
        if re.fullmatch(pattern, kind)
    ]


@pytest.mark.parametrize(("graph", "kind"), entries("kleinberg_authority"))
def test_authorities(graph, kind):
    entry, ranks, before = graph["importance"][kind], Kleinberg(), 0.0
    for page, targets in enumerate(out_of(graph)):
        ranks.read(page, targets)
    for _ in range(1000):
        ranks.turn()
        if ranks.eigenvalue == before:
            break
        before = ranks.eigenvalue
    for _ in range(100):
        ranks.turn()
    assert ranks.eigenvalue == pytest.approx(entry["eigenvalue"], rel=1e-12)
    if entry["gap"] > 1e-9:  # else one of many, as the start has it
        found = ranks.authorities()
        np.testing.assert_allclose([found[page] for page in range(graph["n"])], entry["pages"], **NEAR)


def pushed(ledger, rows):
    for page in range(len(rows)):
        ledger.add(page)
    while sum(abs(page.cash) for page in ledger.pages.values()) > 1e-14:
        for page, row in enumerate(rows):
            ledger.visit(page, row)
    found = shares(ledger)
    return [found[page] for page in range(len(rows))]


LINKED = [graph for graph in GRAPHS if all(out_of(graph))]  # else rows have other sums: another matrix is computed


@pytest.mark.parametrize(("graph", "kind"), entries(r"eps_edges_[\d.]+_over_n", LINKED))
def test_small_edges_are_a_tax(graph, kind):
    rows = out_of(graph)
    size = float(re.search(r"[\d.]+", kind)[0])
    found = pushed(Ledger(Push(tax=tax_of_small_edges(size)), raw=True), rows)
    np.testing.assert_allclose(found, graph["importance"][kind]["pages"], **NEAR)


@pytest.mark.parametrize(("graph", "kind"), entries(r"tax_[\d.]+(_deduped_no_self)?|link"))
def test_rows_of_matrices(graph, kind):
    taxed = re.match(r"tax_([\d.]+)", kind)
    matrix = Google() if "deduped" in kind else Weighted(spare=0 if taxed else 1)
    found = pushed(Ledger(Push(tax=float(taxed[1]) if taxed else 0), matrix=matrix), out_of(graph))
    np.testing.assert_allclose(found, graph["importance"][kind]["pages"], **NEAR)
