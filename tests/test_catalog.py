"""Strategies are found by the names of their files, or by a dotted name."""

import sys

import pytest

from evercrawl import catalog, importance, schedule
from evercrawl.errors import ConfigError
from evercrawl.schedule.policies.breadth_first import BreadthFirst


def test_every_family_is_found_by_file_name():
    assert catalog.find(schedule.policies, schedule.Policy)["breadth_first"] is BreadthFirst
    assert "uniform" in catalog.find(importance, importance.Importance)
    assert "base" not in catalog.names(schedule.policies)


def test_dashes_and_underscores_are_equal():
    assert catalog.pick(schedule.policies, schedule.Policy, "breadth-first") is BreadthFirst
    assert catalog.pick(schedule.policies, schedule.Policy, "breadth_first") is BreadthFirst


def test_a_file_without_a_strategy_is_none():
    with pytest.raises(ConfigError, match="no policy is called 'base'"):
        catalog.pick(schedule.policies, schedule.Policy, "base")


def test_an_unknown_name_is_answered_with_those_that_exist():
    with pytest.raises(ConfigError, match=r"no policy is called 'dearest'; choose one of: .*breadth_first"):
        catalog.pick(schedule.policies, schedule.Policy, "dearest")


def test_a_strategy_from_outside_the_tree(tmp_path, monkeypatch):
    (tmp_path / "my_orders.py").write_text(
        "from evercrawl.schedule.policies.breadth_first import BreadthFirst\n"
        "class Mine(BreadthFirst): ...\nclass Not: ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert issubclass(catalog.pick(schedule.policies, schedule.Policy, "my_orders:Mine"), BreadthFirst)
    with pytest.raises(ConfigError, match=r"is no Policy; derive the class from evercrawl\.schedule\.base\.Policy"):
        catalog.pick(schedule.policies, schedule.Policy, "my_orders:Not")
    with pytest.raises(ConfigError, match=r"write it as package\.module:Class"):
        catalog.pick(schedule.policies, schedule.Policy, "my_orders:Missing")
    with pytest.raises(ConfigError, match=r"cannot load 'no_such_module:X'"):
        catalog.pick(schedule.policies, schedule.Policy, "no_such_module:X")
    sys.modules.pop("my_orders", None)


def test_the_family_itself_is_no_strategy():
    with pytest.raises(ConfigError):
        catalog.pick(schedule.policies, schedule.Policy, "evercrawl.schedule.base:Policy")
