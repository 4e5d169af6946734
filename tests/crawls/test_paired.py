"""`bench/paired.py` runs the code of each side, wherever it is started."""

import importlib.util
import sys
from pathlib import Path

BENCH = Path(__file__).parent.parent.parent / "bench"


def checkout(folder: Path) -> Path:
    """Make a checkout whose program prints the folder's name."""
    (folder / "evercrawl").mkdir(parents=True)
    (folder / "evercrawl/__main__.py").write_text(f"print({folder.name!r})\n")
    return folder


def test_each_side_runs_its_own_code_although_it_is_started_in_a_checkout(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    spec = importlib.util.spec_from_file_location("paired", BENCH / "paired.py")
    paired = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(paired)
    before, now = checkout(tmp_path / "before"), checkout(tmp_path / "now")
    work, log = tmp_path / "work", tmp_path / "log"
    work.mkdir()
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.chdir(now)
    for side in (before, now):
        paired.run_code_of(side, work)
        paired.measured([sys.executable, "-m", "evercrawl"], log)
        assert log.read_text().strip() == side.name
