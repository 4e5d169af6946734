"""Sections of single sites on the command line, in a crawl of a real server."""

import time
from pathlib import Path

from evercrawl.cli.main import main
from evercrawl.config import SiteRules, load
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback

FLAGS = ["--delay", "0", "--allow-net", NETWORK, "--until-idle", "--seconds", "600", "--quiet", "--no-index"]


def test_a_section_goes_from_a_file_into_the_crawl_holds_there_and_is_told(site: Loopback, tmp_path: Path, capsys):
    directory, file = tmp_path / "crawl", tmp_path / "sites.toml"
    url, seed = f"{site.web.origins[0]}/p/2", site.seeds[0]
    host = seed.partition("//")[2].partition("/")[0].partition(":")[0]
    file.write_text(f"[site.\"{host}\"]\nexclude = ['/p/2$']\n")
    assert main(["crawl", seed, "--dir", str(directory), *FLAGS, "--config", str(file)]) == 0
    assert load(directory / "crawl.toml").sites == (SiteRules(host, exclude=("/p/2$",)),)
    capsys.readouterr()
    assert main(["why", url, "--dir", str(directory)]) == 0
    assert f"[site.\"{host}\"] exclude = '/p/2$'" in capsys.readouterr().out
    now_h = int(time.time() // 3600) % 24
    later = f"{(now_h + 3) % 24:02d}:00-{(now_h + 4) % 24:02d}:00"
    settings = directory / "crawl.toml"
    settings.write_text(f'{settings.read_text()}\nhours = "{later}"\n')
    assert main(["why", seed, "--dir", str(directory)]) == 0
    assert f'{host} only {later} UTC ([site."{host}"]); the next are at ' in capsys.readouterr().out


def test_a_wrong_section_is_told_by_its_line(tmp_path: Path, capsys):
    file = tmp_path / "sites.toml"
    file.write_text('[site."example.org"]\ndelay = "3s"\n')
    assert main(["crawl", "http://example.org/", "--dir", str(tmp_path / "crawl"), "--config", str(file)]) == 2
    assert 'line 2: site."example.org": delay is not a key of a site section; did you mean delay_s?' in (
        capsys.readouterr().err
    )
