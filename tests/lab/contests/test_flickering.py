"""Pages that flicker: every row is run, and what is claimed follows from the rows."""

import math

from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.contests.comparison import Case
from evercrawl.lab.contests.flickering import BUDGETS, CASES, Flicker, Flickers


def quiet(line):
    assert line


def test_every_row_is_run_and_what_lasts_is_heeded_or_not():
    found = experiment("flickering").run(LabOptions(pages=60, turns=3), quiet)
    assert len(found.rows) == len(BUDGETS) * len(CASES) * 2
    assert len({row["policy"] for row in found.rows}) == len(CASES) * 2
    assert len(found.claims) == len(CASES)
    runs = [row for row in found.rows if "closed" not in row["policy"]]
    assert all(math.isnan(row["flickered"]) for row in found.rows if row not in runs)
    assert all((row["flickered"] > 0) != ("none" in row["policy"]) for row in runs)
    assert all(claim.holds for claim in found.claims if claim.claim.startswith("closed form"))


def test_who_heeds_what_lasts_keeps_copies_fresher_where_advertisements_are_others_at_each_look():
    alike, heeding = (
        Case(Flickers, Flicker(0.5, True, False, each), 400, 0.0, 1, 0.3, 8.0).row() for each in (False, True)
    )
    assert heeding["value"] > alike["value"] + 0.01
    assert heeding["flickered"] < 0.8 * alike["flickered"]
    rows = [row | {"budget": budget} for row in (alike, heeding) for budget in BUDGETS]
    worth = {claim.claim: claim.holds for claim in Flickers().claims(rows, LabOptions())}
    assert [holds for claim, holds in worth.items() if claim.startswith("price, 50 % flicker at each look")] == [True]
    assert [holds for claim, holds in worth.items() if claim.startswith("price, 10 % flicker at each look")] == [None]
    less = [row | {"value": row["value"] - 0.5 * ("what lasts" in row["policy"])} for row in rows]
    assert [claim.holds for claim in Flickers().claims(less, LabOptions())].count(False) == 1
