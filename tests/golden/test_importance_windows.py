"""Windows and newcomers against reference values: what follows of a page's measures, by every window of the papers."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Account
from evercrawl.importance.newcomers import first_history
from evercrawl.importance.windows import Pasts
from evercrawl.importance.windows._measures import unpack
from evercrawl.importance.windows.base import shared
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.importance.windows.improved import Improved
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.variable import Variable

pytestmark = pytest.mark.golden
REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
REFERENCE = json.loads((REFS / "importance.json").read_text("utf-8"))
NEAR = {"rel": 1e-12, "abs": 1e-13}  # printed with 17 digits
BIRTH = math.ulp(0.0)  # of all pages here; 0 would say that nobody noted it


def estimate(window, page, guess=None):
    kept = np.array([page.kept], np.float64)
    past = Pasts(np.array([page.history]), np.array([page.mark]), kept, np.array([page.born]))
    return float(window.now(past, np.zeros(1), page.mark, guess)[0])


def visited(window, page, row):
    return Account(0.0, *window.add(page._replace(cash=row["cash"]), row["G"]), born=BIRTH)


def measured(table):
    """Yield each row with what our windows make of it; every column but the measure itself has to be there."""
    length, many = table["T"], len(table["rows"]) + 5
    windows = {
        "interp": Interpolation(length),
        "exp": Exponential(length),
        "variable_k": Variable(table["k"]),
        "fixed_T": Fixed(length, many),
        "improved_fixed_min3": Improved(length, many),
    }
    pages = dict.fromkeys(windows, Account(0.0, 0.0, born=BIRTH))
    for row in table["rows"]:
        near = row["G"] - pages["interp"].mark < length
        pages = {name: visited(window, pages[name], row) for name, window in windows.items()}
        found = {name: estimate(window, pages[name]) for name, window in windows.items()}
        for name in ("interp", "exp"):  # as printed, with no thought of what is missing of the window
            found[f"{name}_bias_corrected"] = found[name]
            found[name] = estimate(windows[name], pages[name], guess=0.0)
        exact = {"branch": "G-G[i]<T" if near else "G-G[i]>=T", "n_in_window": held(pages["fixed_T"])}
        yield row, found | {"H_interp": pages["interp"].history}, exact


def held(page):
    return len(unpack(page.kept).measures)


@pytest.mark.parametrize("table", REFERENCE["windows"], ids=lambda table: f"T={table['T']}-k={table['k']}")
def test_windows(table):
    assert set(table) == {"T", "k", "rows", "start", "rules"}
    assert table["rows"]
    for row, numbers, exact in measured(table):
        assert set(row) == {"G", "cash"} | numbers.keys() | exact.keys(), "a window that is not ours"
        assert {name: row[name] for name in exact} == exact
        assert {name: row[name] for name in numbers} == {name: pytest.approx(n, **NEAR) for name, n in numbers.items()}


def test_newcomers():
    growth = REFERENCE["growth"]
    assert set(growth) == {"rule", "example"}
    example = growth["example"]
    assert set(example) == {"T", "recent", "H_new", "known_sum_before", "after_normalisation"}
    recent, length = np.array(example["recent"]), example["T"]
    assert first_history(recent, length) == pytest.approx(example["H_new"], **NEAR)
    ours = AOPIC(window=Fixed(length)).importance(
        np.zeros(1), np.zeros(1), np.zeros(1), 50.0, born=np.array([50.0]), guess=float(recent.mean())
    )
    assert ours * length == pytest.approx(example["H_new"], **NEAR)
    found = shared(np.array([example["known_sum_before"], ours[0]]))
    assert found[1] == pytest.approx(example["after_normalisation"], **NEAR)
