"""Constants of the default policy, chosen on other sites than those that are reported."""

import gc
import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from bench_commands import bench_command

from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.kept_runs import KeptRuns
from evercrawl.schedule.clocks._layout import BURST, BURST_LASTS, SETTINGS
from evercrawl.schedule.policies.price.price import Price

KERNELS = ("_sites", "_exposure_kernel", "_layout")
left_out = bench_command("left_out")


def told():
    """The numbers that a new policy goes by."""
    return Price().state()["told"][-SETTINGS:]


def test_policies_that_are_made_meanwhile_have_other_constants_and_later_ones_the_usual():
    usual = told()
    with left_out.set_to((("burst", 0.5), ("burst lasts", 3.0))):
        other = told()
    assert other[BURST] == 0.5 * usual[BURST]
    assert other[BURST_LASTS] == 3.0 * usual[BURST_LASTS]
    assert (told() == usual).all()


def values():
    """What kernels that are compiled now go by."""
    clocks = {name: importlib.import_module(f"evercrawl.schedule.clocks.{name}") for name in KERNELS}
    return [clocks[name].GAPS for name in KERNELS[:2]] + [clocks[name].SHARE for name in KERNELS[::2]]


def test_kernels_that_are_compiled_meanwhile_have_other_constants_wherever_they_are_used():
    with left_out.set_to((("weight of a folder's and a site's mean", 3.0), ("forgotten of models and parts", 0.5))):
        assert values() == [9.0, 9.0, 0.001, 0.001]
    assert values() == [3.0, 3.0, 0.002, 0.002]


def test_a_process_of_its_own_keeps_its_constants_and_compiles_kernels_anew(monkeypatch):
    monkeypatch.setenv("EVERCRAWL_KERNELS", "")
    with left_out.LASTING:
        left_out.prepare((("weight of a folder's and a site's mean", 2.0),))
        gc.collect()
        assert values()[:2] == [6.0, 6.0]
        assert os.environ["EVERCRAWL_KERNELS"] == "jit"
    assert values()[:2] == [3.0, 3.0]


@pytest.mark.parametrize("constant", [*left_out.CONSTANTS, *left_out.COMPILED], ids=lambda each: each.name)
def test_each_constant_is_there(constant):
    value = left_out.taken(constant)
    with left_out.set_to(((constant.name, 2.0),)):
        assert np.array_equal(left_out.taken(constant), np.multiply(value, 2.0))
    assert left_out.taken(constant) == value


def test_a_site_has_no_say_in_what_it_is_replayed_with():
    draw = np.random.default_rng(1)
    usual = draw.random(6)
    tried = {((name, times),): usual + draw.normal(0.02, 0.02, 6) for name in ("a", "b") for times in (0.5, 2.0)}
    for out in range(6):
        choice = left_out.chosen(usual, tried, out)
        others = {each: np.where(np.arange(6) == out, draw.random(6), scores) for each, scores in tried.items()}
        assert left_out.chosen(np.where(np.arange(6) == out, 9.0, usual), others, out) == choice
    assert left_out.chosen(usual, {((("a"), 0.5),): usual + np.array([0.1, -0.09] * 3)}, 0) == (), "it may be chance"


def test_what_was_replayed_is_not_replayed_again(tmp_path, drawn, monkeypatch):
    history, path, counted = drawn(4, pages=30, days=60), Path("made"), []
    monkeypatch.setattr(left_out, "read", lambda asked: counted.append(asked) or history)
    for _ in range(2):
        with KeptRuns(tmp_path / "runs.jsonl", "code") as kept:
            trials = left_out.Trials([path], "price", [ReplaySetting(0.2)], kept)
            found = [float(trials.scores(choice)[0]) for choice in ((), (("age alone", 0.0),))]
    assert len(counted) == 2
    assert all(np.isfinite(found))
    assert found[0] != found[1]


def test_replays_with_constants_of_kernels_are_made_apart(tmp_path, drawn, monkeypatch):
    history, path, asked = drawn(4, pages=30, days=60), Path("made"), []
    monkeypatch.setattr(left_out, "read", lambda _: history)
    monkeypatch.setattr(left_out.Apart, "freshness", lambda _, *told: asked.append(told) or 0.5)
    setting, choice = ReplaySetting(0.2), (("age alone", 0.0), ("first belief in clocks", 3.0))
    with KeptRuns(tmp_path / "runs.jsonl", "code") as kept:
        trials = left_out.Trials([path], "price", [setting], kept)
        assert np.isfinite(trials.scores(choice)).all()
        assert (trials.scores(choice) == trials.scores(choice)).all()
    assert asked == [(path, "price", setting, choice)], "once, and then kept"
