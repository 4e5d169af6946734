"""Asking for what looks like spam on the command line, of a crawl of a real server."""

import json
from pathlib import Path

from evercrawl.cli.main import main
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback


def test_an_honest_crawl_is_told_to_be_one(site: Loopback, tmp_path: Path, capsys):
    directory = str(tmp_path / "crawl")
    flags = ["--delay", "0", "--allow-net", NETWORK, "--until-idle", "--seconds", "600", "--quiet"]
    assert main(["crawl", *site.seeds, "--dir", directory, *flags]) == 0
    assert main(["suspects", "--dir", directory]) == 0
    assert capsys.readouterr().out == "0 suspicions among 2 sites\n"
    assert main(["suspects", "--dir", directory, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"event": "end", "suspicions": 0, "sites": 2}


def test_without_a_crawl_there_is_nobody_to_suspect(tmp_path, capsys):
    assert main(["suspects", "--dir", str(tmp_path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["exit_code"] == 2
    assert err.startswith("evercrawl: ")
