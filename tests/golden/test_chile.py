"""Chile's estimator of rates from dated changes, against reference values made without any of our code."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evercrawl.schedule import Pages
from evercrawl.schedule.pages import Visits
from evercrawl.schedule.policies.chile.rates import ChileCounts, by_dates

pytestmark = pytest.mark.golden

REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")


def section(name: str) -> Any:
    return json.loads((REFS / "freshness.json").read_text())[name]


def test_the_rate_by_counts_of_dated_changes() -> None:
    for row in section("last_modified_counts"):
        tolerance = row.get("tolerance", 1e-8)
        assert float(by_dates(row["N"], row["X"], row["T"])) == pytest.approx(row["rate"], rel=tolerance)


def test_the_rate_learned_visit_by_visit() -> None:
    found = section("last_modified_visits")
    counts, slot, none = ChileCounts(), np.zeros(1, np.uint32), np.zeros(1)
    no, yes = np.zeros(1, bool), np.ones(1, bool)
    for interval, age in found["visits_interval_age"]:
        changed = age < interval
        age_s = np.array([age if changed else np.nan])
        whole = np.zeros(1, np.int64)
        counts.learn(
            Visits(slot, slot, none, np.array([interval]), yes, no, yes & changed, age_s, none, none, whole, no, whole)
        )
    pages = Pages(slot, none, none, none, none + found["N"], none + 1.0, none, none, none)
    assert counts.table()["changes"].tolist() == [found["X"]]
    assert counts.table()["unchanged_s"] == pytest.approx(found["T"], rel=found.get("tolerance", 1e-8))
    assert counts.rates(pages) == pytest.approx(found["rate"], rel=found.get("tolerance", 1e-8))
