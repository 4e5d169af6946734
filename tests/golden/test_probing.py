"""How many pages of a site to probe, against reference values made without any of our code."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import visit_forms

from evercrawl.schedule.formulas import probing
from evercrawl.schedule.formulas.site_shares import Shares

pytestmark = pytest.mark.golden

REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
CASES: list[dict[str, Any]] = json.loads((REFS / "freshness.json").read_text("utf-8"))["sampling17"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['beta']}-{case['r']}")
def test_sizes(case: dict[str, Any]) -> None:
    near = {"rel": case.get("tolerance", 1e-8)}
    shares, pages, part = Shares(*case["beta"]), case["N"], case["r"]
    assert shares.threshold(part) == pytest.approx(case["rho_r"], **near)
    assert shares.mean == pytest.approx(case["mean"], **near)
    assert shares.mean_above(part) == pytest.approx(case["mean_above"], **near)
    assert probing.printed_size(pages, part, shares) == pytest.approx(case["s_survey17"], **near)
    assert probing.best_size(pages, part, shares) == pytest.approx(case["s_derived"], **near)
    assert visit_forms.exact_size(pages, part, shares) == case["s_exact"]
    found = {size: probing.changes_found(int(size), pages, part, shares) for size in case["changes_at"]}
    assert found == pytest.approx(case["changes_at"], **near)
    best = probing.changes_found(case["s_exact"], pages, part, shares)
    assert best == pytest.approx(case["changes_at_best"], **near)
