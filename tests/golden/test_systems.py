"""The rules of two published crawlers, Tianwang and RPUC, against reference values made without any of our code."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evercrawl.schedule.policies.rpuc.types import components, primary, vectors
from evercrawl.schedule.policies.tianwang.cycle import assign

pytestmark = pytest.mark.golden

REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
SECTIONS = {"rpuc", "tianwang_assignment"}


def section(name: str) -> Any:
    assert name in SECTIONS
    return json.loads((REFS / "freshness.json").read_text())[name]


def test_what_a_cycle_of_tianwang_visits() -> None:
    for case in section("tianwang_assignment")["cases"]:
        found = assign(case["N_C"], case["I_percent"], case["new_queue"], case["due"], case["remained"])
        assert found.new == case["take_new"]
        assert found.due == case["take_due"]
        assert found.remained == case["take_remained"]
        assert found.left_over == case["push_to_remained"]
        assert case["remained"] - found.remained + found.left_over == case["remained_after"]
        assert found.idle == case["idle"]


def test_vectors_types_and_queues_of_rpuc() -> None:
    table = section("rpuc")
    for page in table["pages"]:
        tolerance = page.get("tolerance", table.get("tolerance", 1e-8))
        vector = vectors(*(page[name] for name in ("r", "m", "P", "n", "x", "c", "h")))
        assert vector[0] == pytest.approx(np.array(page["V"]), rel=tolerance)
        scores = components(table["W"], vector)
        assert scores[0] == pytest.approx(np.array(page["T"]), rel=tolerance)
        assert primary(scores).tolist() == [page["queue"]]
