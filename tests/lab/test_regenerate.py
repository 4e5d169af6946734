"""Tables made in one go: kept with their commands, and made again only where the code or the command is other."""

import sys
from pathlib import Path

import pytest
from bench_commands import bench_command

from evercrawl.cli.main import parser
from evercrawl.lab.catalogue import experiments

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def regenerate(monkeypatch, tmp_path):
    module = bench_command("regenerate")
    scripts = {"good": "print(7)", "missed": "print(8); raise SystemExit(1)", "broken": "print(9); raise KeyError(1)"}
    for name, text in scripts.items():
        (tmp_path / f"{name}.py").write_text(text)
    tables = [module.Table(name, f"{tmp_path / name}.py") for name in scripts]
    monkeypatch.setattr(module, "TABLES", (*tables, module.Table("recorded", "x.py HISTORIES")))
    monkeypatch.setattr(module, "fingerprint", lambda: "abc")
    monkeypatch.setattr(sys, "argv", ["regenerate", "--out", str(tmp_path / "out")])
    return module


def test_tables_are_kept_with_their_commands_and_those_that_failed_are_made_again(
    regenerate, tmp_path, capsys, monkeypatch
):
    assert regenerate.main() == 1
    kept = {path.stem: path.read_text() for path in (tmp_path / "out").glob("*.txt")}
    assert sorted(kept) == ["good", "missed"]
    assert kept["good"] == f"$ python {tmp_path}/good.py\ncode abc\n\n7\n\nexit code 0\n"
    assert kept["missed"].endswith("8\n\nexit code 1\n")
    said = capsys.readouterr().out
    assert "missed: made, and a goal was missed" in said
    assert "recorded: left out" in said
    (tmp_path / "broken.py").write_text("print(10)")
    (tmp_path / "good.py").write_text("raise SystemExit(3)")
    assert regenerate.main() == 0
    assert "good: there" in capsys.readouterr().out
    assert (tmp_path / "out" / "broken.txt").exists()
    monkeypatch.setattr(regenerate, "fingerprint", lambda: "other code")
    assert regenerate.main() == 1
    assert (tmp_path / "out" / "good.txt").read_text() == kept["good"], "what failed now does not replace what was made"


def test_the_commands_are_those_there_are():
    module = bench_command("regenerate")
    known = experiments()
    for table in module.TABLES:
        words = table.command.split()
        if words[0] == "-m":
            assert parser().parse_args(words[2:]).name in known
        else:
            assert (ROOT / words[0]).exists()
            flags = {word for word in words if word.startswith("--")}
            flags |= {"--runs"} if "KEPT" in words else set()
            assert all(f'"{flag}"' in (ROOT / words[0]).read_text() for flag in flags)
