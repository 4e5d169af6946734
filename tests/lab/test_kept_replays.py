"""Replays of the benchmarks are kept, and an interrupted table goes on where it was."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from bench_commands import bench_command

from evercrawl.lab.backtest.runs import Made, Run, make, planned
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.histories import find

SETTING = ReplaySetting(0.02, sample=20, years=0.5)


@pytest.fixture(name="module")
def module_of_the_bench():
    return bench_command("kept_replays")


def test_what_was_replayed_before_an_interruption_is_not_replayed_again(module, tmp_path):
    (runs,) = planned([tuple(find("peps"))], {"uniform": {}, "price": {}, "notices": {}}, [0.02], SETTING)
    began = list[str]()

    def making(left: list[Run]) -> Iterator[Made]:
        for run in left:
            began.append(run.policy)
            yield from make([run])

    first = module.KeptReplays(tmp_path, "code").made(runs, making)
    next(first)
    next(first)
    first.close()
    assert began == ["uniform", "price"]
    every = list(module.KeptReplays(tmp_path, "code").made(runs, making))
    assert began == ["uniform", "price", "notices"]
    for one, other in zip(every, make(runs), strict=True):
        np.testing.assert_array_equal(one.replayed.fresh_s, other.replayed.fresh_s)
        assert one.replayed.calibration.count == other.replayed.calibration.count
        assert one.sites == other.sites
    list(module.KeptReplays(tmp_path, "other code").made(runs[:1], making))
    assert began[-1] == "uniform"
    assert not list(tmp_path.glob("*.[0-9]*"))


def test_other_conditions_are_other_replays(module):
    (runs,) = planned([tuple(find("peps"))], {"price": {}}, [0.02], SETTING)
    run = runs[0]
    others = [
        replace(run, setting=replace(SETTING, validators=False)), replace(run, options={"flicker": 1}),
        replace(run, policy="uniform"), replace(run, histories=tuple(find("ota-contrib"))),
    ]  # fmt: skip
    assert len({module.key_of(each) for each in [run, *others]}) == 5


def test_without_a_folder_nothing_is_kept(module):
    kept, made = module.KeptReplays(None, "code"), list[int]()
    assert [kept.once("a", lambda: made.append(1)) for _ in range(2)] == [None, None]
    assert len(made) == 2
