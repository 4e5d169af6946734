"""The scheduler's formulas and their compiled twins against reference values made without any of our code."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evercrawl.schedule import Pages, allocation, index
from evercrawl.schedule.price import Price

pytestmark = pytest.mark.golden

REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
SURE = 1e12  # the shape of a belief that knows the rate


def rows(name: str) -> list[Any]:
    return json.loads((REFS / "freshness.json").read_text())[name]


def page(weight: float, shape: float, scale: float, c0: float = 1.0, c1: float = 0.0) -> Pages:
    columns = [np.array([value]) for value in (0.0, weight, 0.0, shape, scale, c0, c1, 0.0)]
    return Pages(np.zeros(1, np.uint32), *columns)


def value(pages: Pages, age: float) -> float:
    return float(Price(harmonic=0.0).value(pages, age)[0])


def due(pages: Pages, price: float) -> float:
    policy = Price(harmonic=0.0, close=1e-5)
    policy.price = price
    return float(policy.due(pages, 0.0)[0])


def test_the_index_of_an_unknown_rate() -> None:
    for row in rows("index_gamma_marginal"):
        tolerance = row.get("tolerance", 1e-8)
        assert value(page(row["w"], row["a"], row["b"]), row["tau"]) == pytest.approx(row["V"], rel=tolerance)
        read = index.index(row["w"], row["a"], row["b"], row["tau"], harmonic=0.0)
        assert read == pytest.approx(row["V"], rel=tolerance)
        assert index.survival(row["a"], row["b"], row["tau"]) == pytest.approx(row["survival"], rel=tolerance)


def test_the_index_of_a_known_rate_and_when_the_page_falls_due() -> None:
    for row in rows("index_known"):
        tolerance = row.get("tolerance", 1e-8)
        sure = page(row["w"], SURE, SURE / row["lam"])
        assert value(sure, row["tau"]) == pytest.approx(row["V"], rel=tolerance)
        assert row["w"] / row["lam"] * allocation.h(row["lam"] * row["tau"]) == pytest.approx(row["V"], rel=tolerance)
        expected = row["due_tau"] if row["due_tau"] is not None else np.inf
        assert due(sure, row["price"]) == pytest.approx(expected, rel=tolerance)
        x = allocation.interval(row["price"] * row["lam"] / row["w"])
        assert x / row["lam"] == pytest.approx(expected, rel=tolerance)
        read = index.due_after_s(row["price"], row["w"], SURE, SURE / row["lam"], harmonic=0.0)
        assert read == pytest.approx(expected, rel=tolerance)


def test_when_a_page_falls_due_whose_visit_is_cheap_unless_it_changed() -> None:
    for row in rows("index_conditional_get"):
        tolerance = row.get("tolerance", 1e-8)
        sure = page(row["w"], SURE, SURE / row["lam"], row["c0"], row["c1"])
        assert due(sure, row["price"]) == pytest.approx(row["due_tau"], rel=tolerance)
        read = index.due_after_s(row["price"], row["w"], SURE, SURE / row["lam"], row["c0"], row["c1"], harmonic=0.0)
        assert read == pytest.approx(row["due_tau"], rel=tolerance)


def test_the_best_allocation() -> None:
    for row in rows("optimal_allocation"):
        tolerance = row.get("tolerance", 1e-8)
        found = allocation.optimum(row["w"], row["lam"], row["B"])
        assert found.price == pytest.approx(row["price"], rel=tolerance)
        assert found.rate == pytest.approx(np.array(row["f"]), rel=tolerance, abs=tolerance * row["B"])
        assert found.value == pytest.approx(row["value"], rel=tolerance)
        assert found.value / sum(row["w"]) == pytest.approx(row["normalised"], rel=tolerance)
        even = np.full(len(row["w"]), row["B"] / len(row["w"]))
        uniform = float((np.array(row["w"]) * allocation.freshness(even, row["lam"])).sum())
        assert uniform == pytest.approx(row["uniform_value"], rel=tolerance)
