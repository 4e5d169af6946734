"""What is learned of changes, against the reference values."""

import json
import os
from pathlib import Path

import closed_forms
import numpy as np
import pytest

from evercrawl.change import expectations, gamma
from evercrawl.change.estimators import irregular, last_modified, log_corrected, naive, posterior
from evercrawl.change.estimators.classes import Classes

pytestmark = pytest.mark.golden
REFS = json.loads(
    (Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs") / "freshness.json").read_text("utf-8")
)
OTHERWISE = 1e-8
"""The tolerance, relative, of entries that do not name their own."""


@pytest.mark.parametrize("case", REFS["gamma_moment_match"], ids=lambda case: f"{case['a']}-{case['b']}-{case['tau']}")
def test_one_visit(case):
    near = {"rel": case.get("tolerance", OTHERWISE)}
    a, b = gamma.learn(case["a"], case["b"], case["tau"], True)
    want = case["changed"]
    assert (a, b) == pytest.approx((want["a"], want["b"]), **near)
    assert gamma.rate(np.array([a]), np.array([b])) == pytest.approx([want["mean"]], **near)
    assert a / b**2 == pytest.approx(want["var"], **near)
    a, b = gamma.learn(case["a"], case["b"], case["tau"], False)
    want = case["unchanged"]
    assert (a, b, a / b) == pytest.approx((want["a"], want["b"], want["mean"]), **near)
    fresh = gamma.survival(*(np.array([case[name]]) for name in ("a", "b", "tau")))
    assert fresh == pytest.approx([case["p_unchanged"]], **near)


@pytest.mark.parametrize("case", REFS["index_gamma_marginal"], ids=lambda case: f"{case['a']}-{case['tau']}")
def test_survival(case):
    fresh = gamma.survival(*(np.array([case[name]], float) for name in ("a", "b", "tau")))
    assert fresh == pytest.approx([case["survival"]], rel=case.get("tolerance", OTHERWISE))


def test_visits_with_known_ages():
    case = REFS["last_modified_visits"]
    want = case["gamma_posterior_from_a0_b0"]
    belief = (want["a0"], want["b0"])
    changes, exposure_s = 0, 0.0
    for interval_s, age_s in case["visits_interval_age"]:
        changed = age_s < interval_s  # an older date is that of a change seen before
        belief = gamma.learn(*belief, interval_s, changed, age_s)
        changes, exposure_s = changes + changed, exposure_s + min(interval_s, age_s)
    assert belief == pytest.approx((want["a"], want["b"]), rel=OTHERWISE)
    assert (changes, exposure_s) == pytest.approx((case["X"], case["T"]), rel=OTHERWISE)


def near(case):
    """Return how near a value has to come, for an entry of the table."""
    return {"rel": case.get("tolerance", OTHERWISE)}


def histories(visits):
    return np.array([each[0] for each in visits], float), np.array([bool(each[1]) for each in visits])


@pytest.mark.parametrize("case", REFS["estimators_regular"], ids=lambda case: f"{case['r']}-{case['n']}")
def test_how_wrong_estimators_are(case):
    for name, found in (
        ("naive", naive.moments(case["r"], case["n"])),
        ("cho13", log_corrected.moments(case["r"], case["n"])),
    ):
        want = [case[f"{name}_{column}"] for column in ("mean", "bias", "var")]
        assert list(found) == pytest.approx(want, **near(case), abs=1e-12)


@pytest.mark.parametrize("case", REFS["cho13_values"], ids=lambda case: f"{case['n']}-{case['changed']}")
def test_the_corrected_logarithm(case):
    found = log_corrected.rate(case["n"], case["changed"], float(case["n"]))
    assert found == pytest.approx(case["r_hat"], **near(case))


@pytest.mark.parametrize("case", REFS["cho13_exact_a"], ids=lambda case: str(case["n"]))
def test_the_exact_constant(case):
    assert log_corrected.exact_constant(case["n"]) == pytest.approx(case["a"], **near(case))


@pytest.mark.parametrize("number", range(len(REFS["mle_irregular"])))
def test_the_most_likely_rate(number):
    case = REFS["mle_irregular"][number]
    interval_s, changed = histories(case["history"])
    assert irregular.rate(interval_s, changed) == pytest.approx(case["mle"], **near(case))
    pages = irregular.Irregular(3)
    for passed_s, found in zip(interval_s, changed, strict=True):
        pages.learn(np.array([1]), np.array([passed_s]), np.array([found]))
    assert pages.rates()[1] == pytest.approx(case["mle"], **near(case))


@pytest.mark.parametrize("case", REFS["last_modified_counts"], ids=lambda case: f"{case['N']}-{case['X']}")
def test_last_modified(case):
    assert last_modified.rate(case["N"], case["X"], case["T"]) == pytest.approx(case["rate"], **near(case))
    assert last_modified.rate(case["N"], case["X"], 1.0) == pytest.approx(case["X_prime"], **near(case))
    assert last_modified.naive(case["X"], case["T"]) == pytest.approx(case["naive"], **near(case))


def test_last_modified_visit_by_visit():
    case = REFS["last_modified_visits"]
    interval_s, age_s = np.array(case["visits_interval_age"]).T
    visits, changes, exposure_s = last_modified.counts(interval_s, age_s)
    assert (visits, changes) == (case["N"], case["X"])
    assert exposure_s == pytest.approx(case["T"], **near(case))
    pages = last_modified.LastModified(1)
    belief = posterior.Posterior(1, *(case["gamma_posterior_from_a0_b0"][name] for name in ("a0", "b0")))
    for interval, age in zip(interval_s, age_s, strict=True):
        for estimator in (pages, belief):
            estimator.learn(np.array([0]), np.array([interval]), np.array([age < interval]), np.array([age]))
    assert pages.rates() == pytest.approx([case["rate"]], **near(case))
    want = case["gamma_posterior_from_a0_b0"]
    assert (belief.shape[0], belief.scale_s[0]) == pytest.approx((want["a"], want["b"]), **near(case))


@pytest.mark.parametrize("number", range(len(REFS["bayes_classes"])))
def test_classes(number):
    case = REFS["bayes_classes"][number]
    pages = Classes(1, case["periods_days"], case["prior"])
    for passed, found in zip(*histories(case["observations"]), strict=True):
        pages.learn(np.array([0]), np.array([passed]), np.array([found]))
    assert pages.probabilities()[0] == pytest.approx(case["posterior"], **near(case))


@pytest.mark.parametrize("case", REFS["eq8"], ids=lambda case: f"{case['lam']}-{case['t']}")
def test_after_a_visit(case):
    assert closed_forms.freshness_after(case["lam"], case["t"]) == pytest.approx(case["freshness"], **near(case))
    assert expectations.age_after(case["lam"], case["t"]) == pytest.approx(case["age"], **near(case))


@pytest.mark.parametrize("order", expectations.ORDERS)
@pytest.mark.parametrize("case", REFS["table1"], ids=lambda case: f"{case['lam']}-{case['f']}")
def test_the_orders_of_visits(case, order):
    want = case[order]
    for name, of in (("F", expectations.mean_freshness), ("A", expectations.mean_age)):
        found = of(case["lam"], case["f"], order)
        assert found == pytest.approx(want[name], **near(case))
        assert found == pytest.approx(want[f"mc_{name}"], abs=5 * want[f"mc_se_{name}"])


@pytest.mark.parametrize("case", REFS["cho_roy"], ids=lambda case: f"{case['Q']}-{case['r_over_n']}")
def test_popularity(case):
    found = closed_forms.surfed(case["Q"], case["P0"], case["r_over_n"], case["t"])
    assert found == pytest.approx(case["P"], **near(case))
    slow = case["search_dominated"]
    found = closed_forms.searched(case["Q"], slow["P0"], case["r_over_n"], slow["t"])
    assert found == pytest.approx(slow["P"], **near(case))
    before, after = (closed_forms.surfed(case["Q"], case["P0"], case["r_over_n"], t) for t in (0.0, case["t"][0]))
    again = closed_forms.estimate_between(before, after, case["t"][0], case["r_over_n"])
    assert again == pytest.approx(case["Q"], rel=1e-6)
