"""Columns are declared once: the crawl and the lab fill all of them, and a new one touches four files."""

import os
import re
import subprocess
import sys
from pathlib import Path

from evercrawl.lab.polling import polled
from evercrawl.model.web.known_graph import KEPT_BY
from evercrawl.schedule.pages import NEEDS

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "CONTRIBUTING.md"
_STEP = re.compile(r"In `([^`]+)`, after\n\n```python\n(.*?)```\n\nadd\n\n```python\n(.*?)```", re.DOTALL)
CRAWL = """
from pathlib import Path
import numpy as np
from evercrawl.lab.polling.polling import poll
from evercrawl.lab.polling.population import population
from evercrawl.importance.push import Push
from evercrawl.model.columns import Columns
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.web.known_graph import KnownGraph
from evercrawl.schedule.base import Context
from tests.helpers.hand_made import HandMade

made, needs = HandMade(Path("crawl")), Linked.needs
known = made.know(KnownGraph(made.partition, needs))
made.seed("http://example.org/")
made.visit("http://example.org/", made.page("Home", "/a", "/b"))
first = made.now
made.visit("http://example.org/a", made.page("A", "/b"))
slots = np.arange(made.state.known.count, dtype=np.uint32)
for graph in (known, KnownGraph(made.partition, needs)):
    dates = AnnouncedDates(made.state.accounts)
    columns = Columns(made.state, Push(), made.changes.priors, dates, in_bytes=True, known=graph)
    print((Linked().value(columns(slots), Context(made.now)) - first).tolist())
made.partition.close()
print(poll(Linked(), population(50, seed=1), 0.5, cycles=2, measured_from=1).visits > 0)
"""


def test_every_column_on_demand_is_filled_by_the_crawl_and_by_the_lab():
    assert set(KEPT_BY) == set(polled.MADE_UP) == NEEDS


def copied(folder: Path, files: set[str]) -> None:
    """Link the package into a folder, but copy some of its files, so that they can be changed."""
    for file in files:
        for folder_of in list(Path(file).parents)[-2::-1]:
            here = folder / folder_of
            if here.is_symlink():
                here.unlink()
            if not here.exists():
                here.mkdir()
                for entry in (ROOT / folder_of).iterdir():
                    (here / entry.name).symlink_to(entry)
        (folder / file).unlink()
        (folder / file).write_text((ROOT / file).read_text())


def test_the_steps_that_are_written_down_add_one_and_touch_four_files(tmp_path):
    text = STEPS.read_text().partition("\n## Add a column\n")[2].partition("\n## ")[0]
    assert text
    steps = _STEP.findall(text)
    files = {file for file, _, _ in steps}
    assert len(files) <= 4
    copied(tmp_path, files)
    for file, anchor, more in steps:
        before = (tmp_path / file).read_text()
        assert before.count(anchor) == 1, f"{file} has changed: bring {STEPS.name} up to date"
        (tmp_path / file).write_text(before.replace(anchor, anchor + more))
    policy = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[-1]
    (tmp_path / "crawling.py").write_text(policy + CRAWL)
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PYTHONSAFEPATH": "1"}
    ran = subprocess.run(
        [sys.executable, "crawling.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    live, again, polling = ran.stdout.splitlines()
    assert live == again == "[-1700000010.0, 0.0, 10.0]"
    assert polling == "True"
