"""The scheduler's formulas and their compiled twins against reference values made without any of our code."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import visit_forms

from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas import allocation, index
from evercrawl.schedule.formulas.objectives import OBJECTIVES
from evercrawl.schedule.policies import polling
from evercrawl.schedule.policies.azar import random_optimum
from evercrawl.schedule.policies.lambda_crawl import harmonic_optimum
from evercrawl.schedule.policies.marked_point import counts as marked_point_counts
from evercrawl.schedule.policies.partition import grouped
from evercrawl.schedule.policies.price.price import Price
from evercrawl.schedule.policies.proportional import Proportional

pytestmark = pytest.mark.golden

REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
SURE = 1e12  # the shape of a belief that knows the rate


def section(name: str) -> Any:
    return json.loads((REFS / "freshness.json").read_text())[name]


def page(weight: float, shape: float, scale: float, c0: float = 1.0, c1: float = 0.0) -> Pages:
    columns = [np.array([value]) for value in (0.0, weight, 0.0, shape, scale, c0, c1, 0.0)]
    return Pages(np.zeros(1, np.uint32), *columns)


def known(weight: list[float], lam: list[float]) -> Pages:
    one, none = np.ones(len(lam)), np.zeros(len(lam))
    scale_s = SURE / np.array(lam, float)
    return Pages(
        np.arange(len(lam), dtype=np.uint32), none, np.array(weight, float), none, SURE * one, scale_s, one, none, none
    )


def value(pages: Pages, age: float) -> float:
    return float(Price(harmonic=0.0).value(pages, Context(age))[0])


def due(pages: Pages, price: float) -> float:
    policy = Price(harmonic=0.0, close=1e-5)
    policy.price = price
    return float(policy.due(pages, Context(0.0))[0])


def test_the_index_of_an_unknown_rate() -> None:
    for row in section("index_gamma_marginal"):
        tolerance = row.get("tolerance", 1e-8)
        assert value(page(row["w"], row["a"], row["b"]), row["tau"]) == pytest.approx(row["V"], rel=tolerance)
        read = index.index(row["w"], row["a"], row["b"], row["tau"], harmonic=0.0)
        assert read == pytest.approx(row["V"], rel=tolerance)
        assert index.survival(row["a"], row["b"], row["tau"]) == pytest.approx(row["survival"], rel=tolerance)


def test_the_index_of_a_known_rate_and_when_the_page_falls_due() -> None:
    for row in section("index_known"):
        tolerance = row.get("tolerance", 1e-8)
        sure = page(row["w"], SURE, SURE / row["lam"])
        assert value(sure, row["tau"]) == pytest.approx(row["V"], rel=tolerance, abs=0)
        x = row["lam"] * row["tau"]
        assert row["w"] / row["lam"] * allocation.h(x) == pytest.approx(row["V"], rel=tolerance, abs=0)
        assert allocation.h(x) / x == pytest.approx(row["g_of_x"], rel=tolerance, abs=0)
        expected = row["due_tau"] if row["due_tau"] is not None else np.inf
        assert due(sure, row["price"]) == pytest.approx(expected, rel=tolerance)
        x = allocation.interval(row["price"] * row["lam"] / row["w"])
        assert x / row["lam"] == pytest.approx(expected, rel=tolerance)
        read = visit_forms.due_after_s(row["price"], row["w"], SURE, SURE / row["lam"], harmonic=0.0)
        assert read == pytest.approx(expected, rel=tolerance)


def test_when_a_page_falls_due_whose_visit_is_cheap_unless_it_changed() -> None:
    for row in section("index_conditional_get"):
        tolerance = row.get("tolerance", 1e-8)
        sure = page(row["w"], SURE, SURE / row["lam"], row["c0"], row["c1"])
        assert due(sure, row["price"]) == pytest.approx(row["due_tau"], rel=tolerance)
        read = visit_forms.due_after_s(
            row["price"], row["w"], SURE, SURE / row["lam"], row["c0"], row["c1"], harmonic=0.0
        )
        assert read == pytest.approx(row["due_tau"], rel=tolerance)
        level = row["price"] * row["c0"] * row["lam"] / row["w"]
        x = allocation.interval(level, dear=row["c1"] / row["c0"])
        assert x / row["lam"] == pytest.approx(row["due_tau"], rel=tolerance)


def test_the_best_allocation() -> None:
    for row in section("optimal_allocation"):
        tolerance = row.get("tolerance", 1e-8)
        found = allocation.optimum(row["w"], row["lam"], row["B"])
        assert found.price == pytest.approx(row["price"], rel=tolerance)
        assert found.rate == pytest.approx(np.array(row["f"]), rel=tolerance, abs=tolerance * row["B"])
        assert found.value == pytest.approx(row["value"], rel=tolerance)
        assert found.value / sum(row["w"]) == pytest.approx(row["normalised"], rel=tolerance)
        one_host = np.zeros(len(row["w"]), np.int64)
        capped = allocation.constrained(row["w"], row["lam"], one_host, [row["B"]], 2 * row["B"])
        assert capped.rate == pytest.approx(np.array(row["f"]), rel=tolerance, abs=tolerance * row["B"])


def test_what_uniform_and_proportional_visits_come_to() -> None:
    for row in section("optimal_allocation"):
        tolerance = row.get("tolerance", 1e-8)
        even = np.full(len(row["w"]), row["B"] / len(row["w"]))
        uniform = float((np.array(row["w"]) * allocation.freshness(even, row["lam"])).sum())
        assert uniform == pytest.approx(row["uniform_value"], rel=tolerance)
        pages = known(row["w"], row["lam"])
        policy = Proportional()
        policy.resume({"planned_visits_per_s": row["B"]})
        policy.plan(pages, 0, Context(0.0))
        fresh = allocation.freshness(policy.rates(pages.slot), row["lam"])
        assert float(pages.importance @ fresh) == pytest.approx(row["proportional_value"], rel=tolerance)


def test_the_best_allocations_of_visits_at_random_moments() -> None:
    for row in section("optimal_allocation"):
        tolerance, expected = row.get("tolerance", 1e-8), row["azar_random"]
        found = random_optimum(row["w"], row["lam"], row["B"])
        assert found.rate == pytest.approx(np.array(expected["f"]), rel=tolerance, abs=tolerance * row["B"])
        assert found.value == pytest.approx(expected["value"], rel=tolerance)
        expected = row["lambdacrawl_harmonic"]
        found = harmonic_optimum(row["w"], row["lam"], row["B"])
        assert found.rate == pytest.approx(np.array(expected["rho"]), rel=tolerance, abs=tolerance * row["B"])
        assert found.value == pytest.approx(expected["cost"], rel=tolerance)


def test_polling() -> None:
    for row in section("coffman"):
        tolerance = row.get("tolerance", 1e-8)
        mu, access_s = np.array(row["mu"], float), row["EX"]
        level = polling.levels(mu, access_s, exponential=row["dist"] == "exp")
        assert np.exp(-level) == pytest.approx(np.array(row["h"]), rel=tolerance)
        published = visit_forms.published_shares(level)
        assert published == pytest.approx(np.array(row["f_formula34"]), rel=tolerance)
        bound = visit_forms.stale(published, mu, access_s, level)
        assert bound == pytest.approx(np.array(row["r_bound_at_f"]), rel=tolerance)
        assert polling.shares(mu, mu, access_s, level) == pytest.approx(np.array(row["f_numeric"]), rel=tolerance)
        by_lot = visit_forms.published_random_shares(level)
        assert by_lot == pytest.approx(np.array(row["f_random_formula"]), rel=tolerance)
        numeric = polling.random_shares(mu, mu, access_s, level)
        assert numeric == pytest.approx(np.array(row["f_random_numeric"]), rel=tolerance, abs=tolerance)


def test_whole_numbers_of_visits() -> None:
    for row in section("wolf_integer"):
        tolerance = row.get("tolerance", 1e-8)
        problem = (row["w"], row["lam"], row["T"], row["R"])
        every = np.arange(row["R"] + 1)
        values = np.stack(
            [marked_point_counts.worth(w, lam, row["T"], every) for w, lam in zip(*problem[:2], strict=True)]
        )
        for found in (
            marked_point_counts.greedy(*problem),
            marked_point_counts.by_price(*problem),
            marked_point_counts.dynamic(values, row["R"]),
        ):
            assert found.each.tolist() == row["x"]
            assert found.value == pytest.approx(row["value"], rel=tolerance)


def test_visits_after_the_instants_at_which_a_page_may_change() -> None:
    for row in section("wolf_quasi_deterministic"):
        found = visit_forms.best_visits(row["times"], row["probs"], row["T"], row["crawls"])
        assert [row["times"][i] for i in found.after] == row["best_crawl_after_times"]
        assert found.stale == pytest.approx(row["staleness"], rel=row.get("tolerance", 1e-8))


def test_groups_of_pages() -> None:
    data = section("carney")
    tolerance, budget = data.get("tolerance", 1e-8), data["B"]
    weight, lam = np.array(data["weights"], float), np.array(data["rates"], float)
    assert allocation.optimum(weight, lam, budget).value == pytest.approx(data["optimum"], rel=tolerance)
    for name, row in data["groupings"].items():
        found = grouped(weight, lam, budget, name, data["G"])
        assert found.label.tolist() == row["labels"]
        assert found.size.tolist() == row["sizes"]
        assert found.weight == pytest.approx(np.array(row["rep_p"]), rel=tolerance)
        assert found.lam == pytest.approx(np.array(row["rep_lam"]), rel=tolerance)
        assert found.rate == pytest.approx(np.array(row["f"]), rel=tolerance, abs=tolerance * budget)
        total = float((weight * OBJECTIVES["freshness"].mean(found.rate[found.label], lam)).sum())
        assert total == pytest.approx(row["value"], rel=tolerance)
