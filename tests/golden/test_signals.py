"""What a visit is worth where changes are announced, against what was drawn."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from visit_forms import worth

from evercrawl.schedule.formulas.signals import signals, times

pytestmark = pytest.mark.golden

REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
SECTIONS = {"index_signals_mc"}
CASES = json.loads((REFS / "freshness.json").read_text("utf-8"))["index_signals_mc"]
ERRORS = 5
"""Standard errors of the draws within which the sums must be."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['recall']}-{case['level']}")
def test_what_is_announced(case):
    of = signals(case["lam"], case["recall"], case["false_rate"])
    assert of.kappa == pytest.approx(case["kappa"], rel=1e-8)
    assert case["lam"] * case["recall"] / of.announced == pytest.approx(case["precision"], rel=1e-8)
    at = np.array([case["level"]])
    found = [*times(of, at), worth(of, 1.0, at)]
    for value, name, error in zip(found, ("ET_mc", "EF_mc", "V_mc"), case["se"], strict=True):
        assert value == pytest.approx([case[name]], abs=ERRORS * error), name
