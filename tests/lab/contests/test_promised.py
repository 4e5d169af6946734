"""What is promised of estimators and of announcements: it is refuted, and the command fails, where it does not hold."""

import pytest

from evercrawl.cli.main import main
from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.contests import estimators, signals
from evercrawl.lab.contests.comparison import unrun

GOOD = dict(zip(signals.KINDS, (0.72, 0.79, 0.81), strict=True))


def lab(tmp_path, *argv: str) -> int:
    return main(["lab", *argv, "--out", str(tmp_path / "lab")])


def test_estimators_keep_what_is_promised_of_as_many_pages_as_are_drawn_by_default(tmp_path, capsys):
    assert lab(tmp_path, "estimators") == 0
    found = experiment("estimators").run(LabOptions(), lambda line: None)
    promised = [claim.claim for claim in found.claims if claim.promised]
    assert len(promised) == 4
    assert any(claim.startswith("a schedule made from classes or posterior") for claim in promised)
    fewer = experiment("estimators").run(LabOptions(pages=300), lambda line: None)
    assert not any(claim.promised for claim in fewer.claims)


@pytest.mark.parametrize(("name", "other"), [("log_corrected", "naive"), ("posterior", "naive")])
def test_an_estimator_that_is_not_what_it_should_be_fails(name, other, tmp_path, monkeypatch, capsys):
    kinds = estimators.estimators()
    few = {each: kinds[each] for each in ("naive", "log_corrected", "last_modified", "classes", "posterior")}
    monkeypatch.setattr(estimators, "estimators", lambda: few)
    assert lab(tmp_path, "estimators") == 0
    monkeypatch.setattr(estimators, "estimators", lambda: few | {name: kinds[other]})
    assert lab(tmp_path, "estimators") == 1
    assert "REFUTED" in capsys.readouterr().out


def compared(part, *, upper=0.9):
    """Return rows of a whole comparison in which ours reach such a part of what is best, by whether rates are known."""
    rows = []
    for budget in signals.BUDGETS:
        for kind, best in GOOD.items():
            rows.append(unrun(signals.BEST + kind, best, 0.75, budget=budget))
            rows += [
                unrun(f"price, {known}{kind}", part[bool(known)] * best, 0.75, budget=budget)
                for known in ("known rates, ", "")
            ]
        rows.append(unrun(signals.UPPER, upper, 0.75, budget=budget))
    return rows


@pytest.mark.parametrize(
    ("part", "upper", "kept"),
    [
        ({True: 0.995, False: 0.96}, 0.9, True),
        ({True: 0.985, False: 0.96}, 0.9, False),
        ({True: 0.995, False: 0.94}, 0.9, True),
        ({True: 0.995, False: 0.96}, 0.8, False),
    ],
)
def test_announcements_are_heeded_as_well_as_is_promised_or_the_command_fails(
    part, upper, kept, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(signals.AnnouncedChanges, "rows", lambda *args: compared(part, upper=upper))
    assert lab(tmp_path, "signals") == (0 if kept else 1)
    assert lab(tmp_path, "signals", "--pages", "2000") == 0, "of fewer pages nothing is promised"
    assert "(ours) at least 0.99" in capsys.readouterr().out


def test_with_announcements_a_hundredth_less_is_promised_as_they_wait_for_a_tick():
    rows = compared({True: 0.985, False: 0.96})
    held = [signals.of_the_best(rows, "known rates, ", kind).holds for kind in GOOD]
    assert held == [False, True, True]
    assert not signals.of_the_best(compared({True: 1.0, False: 0.94}), "", "nothing announced").holds


def test_announcements_that_do_not_help_are_refuted(monkeypatch):
    rows = compared({True: 0.995, False: 0.96})
    none = [row for row in rows if row["policy"].endswith("nothing announced")]
    for row in none:
        row["value"] = 0.9
    assert not signals.helps(rows, "").holds
