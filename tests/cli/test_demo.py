"""The demonstration runs, finds what there is, and says where it is."""

import json

from evercrawl.cli import main as cli


def test_demo(tmp_path, capsys):
    assert cli.main(["demo", "--dir", str(tmp_path), "--pages", "4", "--seconds", "3", "--json"]) == 0
    *_, end, demo = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert end["fetched"] >= 4 * 4
    assert demo["archives"]
    assert all(archive.startswith(str(tmp_path)) for archive in demo["archives"])
