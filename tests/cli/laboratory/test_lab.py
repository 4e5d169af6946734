"""evercrawl lab: experiments are found, made, told and kept."""

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from evercrawl.cli.main import main
from evercrawl.lab.catalogue import experiments, summary


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_experiments_are_listed_with_what_they_are_about(capsys):
    assert main(["lab"]) == 0
    listed = capsys.readouterr().out
    for name, kind in experiments().items():
        assert f"{name} " in listed
        assert summary(kind) in listed
    assert {"fig2", "fig3"} <= set(experiments())


def test_claims_stand_beside_what_was_found_and_the_numbers_are_kept(tmp_path, capsys):
    assert main(["lab", "fig3", "--pages", "1000", "--turns", "3", "--out", str(tmp_path / "new")]) == 0
    told = capsys.readouterr().out
    assert "greedy is better than random and cycle" in told
    assert "HOLDS" in told
    rows = pq.read_table(tmp_path / "new" / "fig3.parquet").to_pylist()
    assert {row["turn"] for row in rows} == {1, 2, 3}
    assert (tmp_path / "new" / "fig3.png").read_bytes().startswith(b"\x89PNG")


def test_json_says_the_same_and_a_seed_repeats_it(capsys):
    lines = []
    for _ in range(2):
        assert main(["lab", "fig3", "--pages", "500", "--turns", "2", "--seed", "7", "--json"]) == 0
        lines.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert lines[0] == lines[1]
    events = [line["event"] for line in lines[0]]
    assert set(events) == {"row", "claim", "end"}
    claims = [line for line in lines[0] if line["event"] == "claim"]
    assert all(claim["verdict"] in ("holds", "refuted", "open") for claim in claims)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["nothing"], "fig2"),
        (["fig2", "--pages", "many"], "--pages must be"),
        (["fig2", "--pages", "5"], "at least 100"),
        (["fig2", "--turns", "0"], "--turns must be"),
        (["fig2", "--graph-kind", "cubic"], "bow-tie"),
        (["fig2", "--graph", "missing.parquet"], "src and dst"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_can(flags, said, capsys):
    assert main(["lab", *flags]) == 2
    assert said in capsys.readouterr().err


def test_figures_without_matplotlib_say_how_to_get_it_before_anything_is_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("evercrawl.lab.figures.plotting.find_spec", lambda name: None)
    assert main(["lab", "fig3", "--pages", "300", "--turns", "1", "--out", str(tmp_path / "new")]) == 2
    assert "pip install 'evercrawl[lab]'" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_without_a_folder_they_go_to_one_of_their_own_and_without_matplotlib_there_is_no_figure(
    tmp_path, monkeypatch, capsys
):
    assert main(["lab", "fig3", "--pages", "300", "--turns", "1"]) == 0
    assert {file.name for file in (tmp_path / "lab").iterdir()} == {"fig3.parquet", "fig3.png"}
    (tmp_path / "lab" / "fig3.png").unlink()
    monkeypatch.setattr("evercrawl.lab.figures.plotting.find_spec", lambda name: None)
    assert main(["lab", "fig3", "--pages", "300", "--turns", "1"]) == 0
    assert "pip install 'evercrawl[lab]'" in capsys.readouterr().err
    assert {file.name for file in (tmp_path / "lab").iterdir()} == {"fig3.parquet"}


def test_a_folder_that_cannot_be_written_to_is_told_of(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["lab", "fig3", "--pages", "300", "--turns", "1", "--out", str(tmp_path / "file" / "new")]) == 3
    assert "--out" in capsys.readouterr().err


def test_matplotlib_is_loaded_for_figures_only():
    code = "import sys, evercrawl.lab.catalogue as c; c.experiments(); print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
