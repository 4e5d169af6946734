"""What a crawl makes can be written by nobody else, though its user lets everyone write all other files."""

import subprocess
from pathlib import Path

from evercrawl.cli.main import main
from tests.cluster.conftest import ServedNames
from tests.helpers.open_modes import open_to_others


def run(*args: str) -> None:
    """Run a command of a user whose files everyone may write."""
    done = subprocess.run(ServedNames.command(*args), capture_output=True, text=True, check=False, umask=0, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nobody_else_may_write_what_a_crawl_in_partitions_makes(served, capsys):
    folder, wide = served.folder / "made", str(served.folder / "made" / "crawl")
    served.directory = Path(wide)
    (folder / "kept").mkdir(parents=True)
    keeping = ("--partitions", "2", "--keeper-dir", str(folder / "kept"), "--durable", "keeper")
    run(*served.crawling("--pages", "30", "--quiet", *keeping)[3:])
    run("backup", str(folder / "copies" / "copy"), "--dir", wide)
    run("reindex", "--dir", wide)
    run("move", "1", str(folder / "part"), "--dir", wide)
    assert {path.name for path in folder.iterdir()} == {"crawl", "kept", "copies", "part"}
    assert open_to_others(folder) == []
    assert main(["verify", "--dir", wide]) == 0, capsys.readouterr().out


def test_nobody_else_may_write_what_a_crawl_makes(served, capsys):
    folder, one = served.folder / "made", str(served.folder / "made" / "crawl")
    served.directory = Path(one)
    run(*served.crawling("--until-idle", "--quiet", "--pages", "20")[3:])
    run("backup", str(folder / "copy"), "--dir", one)
    run("reindex", "--dir", one)
    run("top", "--dir", one)
    assert open_to_others(folder) == []
    assert main(["verify", "--dir", one]) == 0, capsys.readouterr().out
