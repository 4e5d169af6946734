"""Focus, discovery and the xyleme policy on the command line, in a crawl of a real server."""

import json
from pathlib import Path

from evercrawl.cli.main import main
from evercrawl.config import Focus, load
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback

FOCUS = """
[[focus]]
url = "/p/[12]$"
weight = 8

[[focus]]
words = ["/copy"]
"""


def test_a_focus_goes_from_a_file_into_the_crawl_and_is_told(site: Loopback, tmp_path: Path, capsys):
    directory, file = tmp_path / "crawl", tmp_path / "focus.toml"
    file.write_text(FOCUS)
    flags = ["--delay", "0", "--allow-net", NETWORK, "--until-idle", "--seconds", "600", "--quiet", "--no-index"]
    more = ["--config", str(file), "--policy", "xyleme", "--discovery", "75%"]
    assert main(["crawl", *site.seeds, "--dir", str(directory), *flags, *more]) == 0
    config = load(directory / "crawl.toml")
    assert config.focus == (Focus(url="/p/[12]$", weight=8.0), Focus(words=("/copy",)))
    assert (config.policy, config.discovery) == ("xyleme", 0.75)

    def wanted(path: str) -> tuple[float, str]:
        assert main(["why", f"{site.web.origins[0]}{path}", "--dir", str(directory), "--json"]) == 0
        worth = json.loads(capsys.readouterr().out)["worth"]
        return worth["wanted"], worth["because"]

    capsys.readouterr()
    assert wanted("/p/2") == (8.0, "focus, entry 1 (url /p/[12]$)")
    assert wanted("/copy") == (4.0, "focus, entry 2 (words /copy)")  # the words of the link that led there
    assert wanted("/p/3") == (1.0, "")
    assert main(["why", f"{site.web.origins[0]}/p/2", "--dir", str(directory)]) == 0
    assert "8 times its importance: focus, entry 1" in capsys.readouterr().out


def test_a_wrong_focus_is_told_by_its_entry(tmp_path: Path, capsys):
    file = tmp_path / "focus.toml"
    file.write_text(FOCUS + "wieght = 3\n")
    assert main(["crawl", "http://127.0.1.1/", "--dir", str(tmp_path / "crawl"), "--config", str(file)]) == 2
    assert "focus, entry 2: wieght is not a key of [[focus]]; did you mean weight?" in capsys.readouterr().err
