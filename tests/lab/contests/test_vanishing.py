"""Pages that vanish: every row is run, told or not, and what is claimed follows from the rows."""

from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.contests.comparison import Case
from evercrawl.lab.contests.vanishing import BUDGETS, RETURNS, Vanish, Vanishing


def quiet(line):
    assert line


def test_every_row_is_run_told_and_not_told():
    found = experiment("vanishing").run(LabOptions(pages=60, turns=3), quiet)
    assert len(found.rows) == len(BUDGETS) * 2 * len(RETURNS) * 2
    assert len({row["policy"] for row in found.rows}) == len(found.rows) // len(BUDGETS)
    assert all(0 <= row["again"] <= row["gone"] < 1 for row in found.rows)
    spent = {
        returns: sum(row["gone"] for row in found.rows if text in row["policy"]) for returns, text in RETURNS.items()
    }
    assert spent[0.0] > spent[0.5] > spent[1.0] > 0
    assert [claim.found.count(",") for claim in found.claims] == [5] * 6


def test_being_told_makes_a_difference_and_is_worth_something_or_it_is_said_that_it_is_not():
    told, untold = (Case(Vanishing, Vanish(True, 0.0, each), 60, 0.0, 1, 0.3, 3.0).row() for each in (True, False))
    assert told["value"] != untold["value"]
    rows = [row | {"budget": budget} for row in (told, untold) for budget in BUDGETS]
    for worth, holds in ((0.01, True), (-0.01, False)):
        more = [row | {"value": 0.5 if "not told" in row["policy"] else 0.5 + worth} for row in rows]
        found = Vanishing().claims(more, LabOptions())
        assert [claim.holds for claim in found[:2]] == [holds, None]
