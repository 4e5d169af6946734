"""The demonstration runs, finds what there is, and says where it is."""

import json

import pytest

from evercrawl.cli import main as cli


def test_demo(tmp_path, capsys):
    assert cli.main(["demo", "--dir", str(tmp_path), "--pages", "4", "--seconds", "3", "--json"]) == 0
    *_, end, demo = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert end["fetched"] >= 4 * 4
    assert demo["archives"]
    assert all(archive.startswith(str(tmp_path)) for archive in demo["archives"])


@pytest.mark.parametrize("wrong", [["--pages", "-3"], ["--pages", "0"], ["--pages", "many"], ["--seconds", "0"]])
def test_wrong_numbers_are_refused_before_anything_is_made(tmp_path, capsys, wrong):
    assert cli.main(["demo", "--dir", str(tmp_path / "demo"), *wrong]) == 2
    assert f"{wrong[0]} must be " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
