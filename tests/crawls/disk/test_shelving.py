"""A crawl whose rows lie in files does what it does with all of them in memory, and comes back the same."""

import asyncio
from contextlib import closing
from typing import Any

from evercrawl.arrays import rows, shelf
from evercrawl.crawl.memory_use.shelving import Shelving
from evercrawl.model.policy.policies import policy_of
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import MadeWeb

LIMITS = Limits(seconds=120.0)
SETTINGS = {"delay_s": 1.0, "refresh_after_s": 10.0, "snapshot_every_s": 40.0, "scope": "any"}


def _crawled(runner, folder, during=None) -> list[Any]:
    web = MadeWeb(5, tuple(f"http://{name}.example" for name in "abcdef"), pages=60)
    run = runner(folder)
    ran = [
        run(run.World(web), seeds, LIMITS, during=during, policy=policy_of("price", {}), **SETTINGS)
        for seeds in (
            [f"{origin}/" for origin in web.origins],
            [],
        )  # the second run is a start from what the first left
    ]
    run.same()
    return ran


def test_a_crawl_goes_on_as_before_with_its_rows_in_files(run, tmp_path, monkeypatch):
    whole = _crawled(type(run), tmp_path / "whole")
    monkeypatch.setattr(rows, "OWN_BYTES", 0)
    monkeypatch.setattr(shelf, "CHUNK_BYTES", 4096)
    moved = list[int]()

    async def rest(crawl) -> None:
        with closing(Shelving(crawl, tmp_path).shelf) as files:
            while True:
                files.tend()
                moved.append(files.moved_bytes)
                await asyncio.sleep(0.7)

    resting = _crawled(type(run), tmp_path / "resting", rest)
    assert max(moved) > 30_000
    assert len(whole[0].visits) > 200
    assert [ran.digest for ran in resting] == [ran.digest for ran in whole]
