"""Who asks `optimal` for an end gets more of it than by any other."""

import numpy as np
import pytest

from evercrawl.lab.base import LabOptions, Results
from evercrawl.lab.contests import ends
from evercrawl.lab.contests.byte_costs import costs
from evercrawl.lab.polling.population import population


def rows(options):
    return ends.rows(options, lambda line: None)


def test_each_objective_is_best_by_its_own_measure():
    found = rows(LabOptions(pages=400))
    assert len(found) == len(ends.ENDS) ** 2 * len(ends.BUDGETS)
    for of in ends.ENDS:
        own = [row for row in found if row["policy"] == ends.label(of, of)]
        others = [row for row in found if row["policy"].endswith(f": {ends.ENDS[of]}") and row not in own]
        assert [row["ratio"] for row in own] == [1.0] * 3
        assert len(others) == 9
        assert all(row["ratio"] < 1.0 for row in others)
    assert not Results(claims=ends.claims(found, promised=True)).missed


def test_whoever_asks_for_age_gets_less_age():
    found = ends.measured(population(400, seed=2), 2, 0.1)["age"]
    assert found["age"] < 0.8 * found["harmonic"] < 0.8 * found["freshness"]


def test_an_objective_that_is_no_better_is_refuted(monkeypatch):
    plain = ends.rates
    monkeypatch.setattr(
        ends, "rates", lambda pages, name, *rest: plain(pages, "harmonic" if name == "age" else name, *rest)
    )
    found = ends.claims(rows(LabOptions(pages=200)), promised=True)
    assert [claim.holds for claim in found] == [True, False, False, True], "of two that are alike neither is better"
    monkeypatch.setattr(
        ends, "rates",
        lambda pages, name, *rest: plain(pages, {"age": "harmonic", "harmonic": "age"}.get(name, name), *rest),
    )  # fmt: skip
    found = ends.claims(rows(LabOptions(pages=200)), promised=True)
    assert [claim.holds for claim in found] == [True, False, False, True]
    assert Results(claims=found).missed


def test_all_spend_the_same_bytes_where_these_count():
    pages, each = population(200, seed=1), costs(200, 1)
    given = ends.rates(pages, "age", each, 0.1)
    assert given.sum() == pytest.approx(20.0)
    rate = ends.spending(given, pages.lam_per_day, each, 3.0)
    assert ends.spent(rate, pages.lam_per_day, each) == pytest.approx(3.0)
    assert np.ptp(rate / given) == pytest.approx(0.0, abs=1e-9)
