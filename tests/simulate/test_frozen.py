"""Worlds as written descriptions are the worlds that were written, and those that are kept live as they always did."""

import json
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import pytest

from evercrawl.config import Config, Focus
from evercrawl.simulate.simulation import simulate
from evercrawl.simulate.worlds.frozen import read, write
from evercrawl.simulate.worlds.world import drawn

KEPT = Path(__file__).parents[2] / "bench" / "kept"


def test_a_description_read_back_is_the_world():
    worlds = [drawn(seed) for seed in range(200)]
    settings = Config(focus=(Focus(url="/a"), Focus(words=("storm",), weight=8)), include=("x", "y"), discovery=1)
    worlds.append(replace(worlds[0], lives=(replace(worlds[0].lives[0], config=settings),)))
    assert list(read(write(worlds))) == worlds


def test_a_new_default_changes_no_world_that_was_written():
    world = drawn(7)
    pattern, told = write([world])
    assert list(read([pattern, told])) == [world]
    other = json.loads(pattern)
    other["config"]["max_depth"] = 3
    assert {life.config.max_depth for one in read([json.dumps(other).encode(), told]) for life in one.lives} == {3}


def test_a_world_read_back_gives_the_same_log():
    (again,) = read(write([drawn(10)]))
    assert simulate(10, world=again).hash == simulate(10).hash


@pytest.mark.parametrize("number", [9, 13])
def test_kept_worlds_live_as_they_did(number):
    """Two of those that `make unchanged` compares."""
    kept = json.loads((KEPT / "hashes.json").read_text())
    world = list(read((KEPT / "worlds.jsonl").read_bytes().splitlines()))[number]
    lines: list[str] = []
    simulate(world.seed, world=world, watch=lines.append)
    log = blake2b("\n".join([*lines, ""]).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    assert kept["hashes"][f"worlds/{number + 1:02} {world.lives[0].config.policy} log"] == log
