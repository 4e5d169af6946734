"""A ledger watched: its steps, its estimates and its bounds."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from evercrawl.importance.ledger.examples import EXAMPLES
from evercrawl.importance.ledger.trace import VIRTUAL, TraceOrder, TraceSettings, VirtualPage, WindowKind, traced

REFS = Path(__file__).parents[1] / "golden" / "refs" / "importance.json"
GRAPHS = {graph["name"]: graph for graph in json.loads(REFS.read_text("utf-8"))["graphs"]}
TOY = EXAMPLES["toy"]


def test_the_toy_moves_100_credits_as_by_hand():
    """The rule written out: take what the richest has, and share it among its links."""
    links = {page: [target for source, target in TOY.links if source == page] for page in range(TOY.pages)}
    cash, history = [Fraction(100, 9)] * 9, [Fraction(0)] * 9
    found = traced(9, TOY.links, TraceSettings("greedy", steps=40, virtual="none"))
    for step in range(40):
        page = cash.index(max(cash))
        moved, cash[page] = cash[page], Fraction(0)
        history[page] += moved
        for target in links[page]:
            cash[target] += moved / len(links[page])
        state = found.states[step + 1]
        assert 100 * found.moved[step] == pytest.approx(float(moved))
        assert [100 * each for each in state.cash] == pytest.approx([float(each) for each in cash])
        assert [100 * each for each in state.history] == pytest.approx([float(each) for each in history])
        importance = [float((h + c) / (sum(history) + 100)) for h, c in zip(history, cash, strict=True)]
        assert state.estimate == pytest.approx(importance)
    assert found.exact[1] == pytest.approx(0, abs=1e-12), "no page links to the second"


def test_the_scale_free_web_flashes_its_virtual_page():
    web = EXAMPLES["scale-free"]
    found = traced(web.pages, web.links, TraceSettings("greedy", steps=200, virtual="link"))
    assert web.pages == 24
    assert 20 < found.visits.count(VIRTUAL) < 100
    assert found.exact.index(max(found.exact)) == 1


@pytest.mark.parametrize("name", ["two-cycle (periodic)", "ring5+chord", "dangling chain", "bow-tie 9"])
def test_steps_are_those_of_the_reference(name):
    graph = GRAPHS[name]
    for trace in graph["traces"]:
        if trace["virtual"] == "none":
            continue
        settings = TraceSettings(
            trace["policy"], steps=len(trace["steps"]), virtual=trace["convention"],
            visited=trace["virtual"] == "explicit",
        )  # fmt: skip
        found = traced(graph["n"], [tuple(link) for link in graph["edges"]], settings)
        for page, state, step in zip(found.visits, found.states[1:], trace["steps"], strict=True):
            assert page % (graph["n"] + 1) == step["page"], "the virtual page is the last"
            assert state.cash == pytest.approx(step["cash"][: graph["n"]], abs=1e-14)
            assert state.clock == pytest.approx(step["G"])
        key = "tax_0.15" if trace["convention"] == "tax" else "link"
        assert found.exact == pytest.approx(graph["importance"][key]["pages"], abs=1e-13)


@pytest.mark.parametrize(("name", "order"), [*product(EXAMPLES, get_args(TraceOrder))])
def test_no_error_is_above_its_bound_at_any_step(name, order):
    web = EXAMPLES[name]
    start = traced(web.pages, web.links, TraceSettings(order, steps=1)).states[0]
    assert (start.bound is None) == (order != "push"), "nothing has been moved"
    for virtual, visited in product(get_args(VirtualPage), (True, False)):
        if order == "push" and virtual == "none":
            continue
        settings = TraceSettings(order, steps=150, virtual=virtual, visited=visited, window="history")
        found = traced(web.pages, web.links, settings)
        there = [state for state in found.states[1:] if state.bound is not None]
        assert bool(there) == (virtual != "none"), "nothing bounds what no page gives up"
        for state in there:
            assert state.bounded is not None
            assert state.bounded <= state.bound * (1 + 1e-9) + 1e-13
        if virtual != "none":
            assert there[-1].bound < there[len(there) // 4].bound, "it falls"
        if order != "push":
            assert all(math.isclose(sum(s.cash) + s.virtual, 1) for s in found.states)


@pytest.mark.parametrize("window", get_args(WindowKind))
def test_every_window_nears_the_truth(window):
    web = EXAMPLES["scale-free"]
    found = traced(web.pages, web.links, TraceSettings("greedy", steps=1000, every=50, window=window, size=16.0))
    errors = [state.error for state in found.states[1:]]
    assert errors[-1] < 0.75 * errors[0]
    assert errors[-1] < 0.4
    assert sum(found.states[-1].estimate) == pytest.approx(1)


def test_states_are_kept_once_in_so_many_steps_and_at_the_end():
    settings = TraceSettings("random", steps=25, every=10, seed=4)
    some = traced(9, TOY.links, settings)
    assert [state.step for state in some.states] == [0, 10, 20, 25]
    assert len(some.visits) == 25
    every = traced(9, TOY.links, replace(settings, every=1))
    assert (every.visits, every.states[20]) == (some.visits, some.states[2])
    assert traced(9, TOY.links, replace(settings, seed=5)).visits != some.visits
