"""What is learned of changes, against the reference values."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from evercrawl.change import gamma

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
