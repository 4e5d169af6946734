"""Runs of a comparison are kept as they end: what was interrupted goes on, and nothing of other code is taken."""

import json
from dataclasses import replace

import pytest

from evercrawl.cli.main import main
from evercrawl.errors import StoreError
from evercrawl.lab import kept_runs
from evercrawl.lab.contests.comparison import Case
from evercrawl.lab.contests.contest import Contest
from evercrawl.lab.contests.contestants import SYSTEMS
from evercrawl.lab.contests.running import rows_of
from evercrawl.lab.kept_runs import KeptRuns, fingerprint

MADE = {each.label: each for each in SYSTEMS}
CASES = [Case(Contest, MADE[label], 40, 0.5, 1, 0.5, 1.0) for label in ("uniform", "cycle", "rpuc")]


class StoppedError(Exception):
    pass


def run_in(path, told, cases=CASES):
    return rows_of(cases, 1, told.append, path)


def interrupted_in(path, after):
    def say(line) -> None:
        if line.startswith(f"{after} of"):
            raise StoppedError

    with pytest.raises(StoppedError):
        rows_of(CASES, 1, say, path)


def test_an_interrupted_comparison_runs_only_what_is_missing(tmp_path):
    path, told = tmp_path / "new" / "systems.runs.jsonl", list[str]()
    interrupted_in(path, 2)
    rows = run_in(path, told)
    assert told[0].startswith("2 of 3 runs are already in ")
    assert [line.partition(":")[0] for line in told[1:]] == ["3 of 3"]
    assert [row["policy"] for row in rows] == ["uniform", "cycle", "rpuc"]
    assert [row["value"] for row in rows] == [row["value"] for row in rows_of(CASES, 1, told.append)]
    told.clear()
    again = run_in(path, told)
    assert [row["seconds"] for row in again] == [row["seconds"] for row in rows]
    assert len(told) == 1


def test_another_run_is_not_taken_for_one_that_is_there(tmp_path):
    path, told = tmp_path / "runs", list[str]()
    run_in(path, told, CASES[:1])
    case = CASES[0]
    conditions = replace(case.setting.conditions, steps=7)
    others = [
        case._replace(seed=2), case._replace(pages=41), case._replace(budget=0.6), case._replace(cycles=2.0),
        case._replace(correlation=0.0), case._replace(setting=case.setting._replace(conditions=conditions)),
        case._replace(setting=case.setting._replace(options={"new_share": 0.4})),
    ]  # fmt: skip
    told.clear()
    run_in(path, told, others)
    assert len(told) == len(others)


def test_runs_of_other_code_are_thrown_away(tmp_path, monkeypatch):
    path, told = tmp_path / "runs", list[str]()
    run_in(path, told)
    monkeypatch.setattr("evercrawl.lab.contests.running.fingerprint", lambda: "other")
    told.clear()
    run_in(path, told)
    assert [line.partition(":")[0] for line in told] == ["1 of 3", "2 of 3", "3 of 3"]


def test_the_fingerprint_is_that_of_the_code(tmp_path, monkeypatch):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "one.py").write_text("a = 1\n")
    monkeypatch.setattr(kept_runs.evercrawl, "__file__", str(tmp_path / "__init__.py"))
    before = fingerprint()
    assert fingerprint() == before
    (tmp_path / "lab" / "one.py").write_text("a = 2\n")
    assert fingerprint() != before
    (tmp_path / "errors.py").write_text("b = 1\n")
    of_two = fingerprint(("lab", "errors.py"))
    (tmp_path / "errors.py").write_text("b = 2\n")
    assert fingerprint(("lab", "errors.py")) != of_two


@pytest.mark.parametrize("torn", ['{"run": "b", "ro', '{"run": "b"}', "7", "\x00\x00"])
def test_a_line_that_was_never_finished_is_left_out(tmp_path, torn):
    path = tmp_path / "runs"
    with KeptRuns(path, "code") as runs:
        runs.keep("a", {"ratio": 0.5})
    with path.open("a") as file:
        file.write(torn)
    with KeptRuns(path, "code") as runs:
        assert (runs.row("a"), runs.row("b")) == ({"ratio": 0.5}, None)
        runs.keep("b", {"ratio": 0.7})
    with KeptRuns(path, "code") as runs:
        assert runs.row("b") == {"ratio": 0.7}


def test_where_nothing_can_be_kept_it_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot keep runs in .* another place for them"):
        KeptRuns(tmp_path / "file" / "runs", "code")


def test_the_command_keeps_its_runs_and_does_not_run_them_again(tmp_path, capsys):
    flags = ["--policy", "cycle", "--pages", "40", "--turns", "1", "--jobs", "1", "--out", str(tmp_path)]
    assert main(["lab", "systems", *flags, "--budget", "50%"]) == 0
    kept = (tmp_path / "systems.runs.jsonl").read_text().splitlines()
    assert [set(json.loads(line)) for line in kept] == [{"code"}, {"run", "row"}, {"run", "row"}]
    capsys.readouterr()
    assert main(["lab", "systems", *flags, "--budget", "50%", "--budget", "100%"]) == 0
    assert "2 of 4 runs are already in " in capsys.readouterr().err
