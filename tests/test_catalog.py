"""Strategies are found by the names of their files, or by a dotted name."""

import os
import sys
import time

import pytest

from evercrawl import catalog, importance, schedule
from evercrawl.cli.main import main
from evercrawl.config import Config, save
from evercrawl.errors import ConfigError
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.store.partition import Partition
from evercrawl.store.scheme import Scheme


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


@pytest.mark.usefixtures("trusted")
def test_a_strategy_from_outside_the_tree(tmp_path, monkeypatch):
    (tmp_path / "my_orders.py").write_text(
        "from evercrawl.schedule.policies.breadth_first import BreadthFirst\n"
        "class Mine(BreadthFirst): ...\nclass Not: ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert issubclass(catalog.pick(schedule.policies, schedule.Policy, "my_orders:Mine"), BreadthFirst)
    with pytest.raises(
        ConfigError, match=r"is not of the class Policy; derive it from evercrawl\.schedule\.base\.Policy"
    ):
        catalog.pick(schedule.policies, schedule.Policy, "my_orders:Not")
    with pytest.raises(ConfigError, match=r"write it as package\.module:Class"):
        catalog.pick(schedule.policies, schedule.Policy, "my_orders:Missing")
    with pytest.raises(ConfigError, match=r"cannot load 'no_such_module:X'"):
        catalog.pick(schedule.policies, schedule.Policy, "no_such_module:X")
    sys.modules.pop("my_orders", None)


def test_the_family_itself_is_no_strategy():
    with pytest.raises(ConfigError):
        catalog.pick(schedule.policies, schedule.Policy, "evercrawl.schedule.base:Policy")


def foreign(directory, monkeypatch):
    """Make a crawl directory whose settings name code that lies beside them, and return what that code would make."""
    monkeypatch.setattr(os, "environ", {name: value for name, value in os.environ.items() if name != catalog.TRUSTED})
    (directory / "strange_orders.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"
        "from evercrawl.schedule.policies.breadth_first import BreadthFirst\nclass Mine(BreadthFirst): ...\n"
    )
    monkeypatch.syspath_prepend(directory)
    return directory / "ran"


@pytest.mark.parametrize("where", ["policy", "policy_options", "importance", "window"])
def test_a_directory_cannot_have_code_of_its_own_run(tmp_path, monkeypatch, capsys, where):
    ran = foreign(tmp_path, monkeypatch)
    values = {"policy_options": ("proportional.estimator=strange_orders:Mine",)}
    config = Config(**{where: values.get(where, "strange_orders:Mine")})
    Partition(tmp_path, os.urandom, now=time.time(), scheme=Scheme()).close()
    save(config, tmp_path)
    (tmp_path / "policy.json").write_text('{"policy": "strange_orders:Mine", "policy_options": [], "written": "x"}')
    for verb in (
        ["status"],
        ["top"],
        ["plan"],
        ["why", "http://a.example/"],
        ["verify"],
        ["crawl", "http://a.example/"],
    ):
        main([*verb, "--dir", str(tmp_path)])
    assert not ran.exists()
    said = capsys.readouterr().err
    if where == "policy":
        assert said.count("add --trust strange_orders:Mine") >= 5


def test_the_command_line_may_trust_code_that_a_directory_names(tmp_path, monkeypatch, capsys):
    ran = foreign(tmp_path, monkeypatch)
    Partition(tmp_path, os.urandom, now=time.time(), scheme=Scheme()).close()
    save(Config(policy="strange_orders:Mine"), tmp_path)
    assert main(["top", "--dir", str(tmp_path), "--trust", "strange_orders:Mine"]) == 0
    assert ran.exists()
    sys.modules.pop("strange_orders", None)


def test_nor_a_program_of_its_own_but_the_command_line_may_name_it(tmp_path, monkeypatch, capsys):
    ran = foreign(tmp_path, monkeypatch)
    program = tmp_path / "a browser"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    program.chmod(0o700)
    Partition(tmp_path, os.urandom, now=time.time(), scheme=Scheme()).close()
    save(Config(render="always", browser=str(program)), tmp_path)
    run = ["crawl", "http://127.0.0.1:9/", "--allow-net", "127.0.0.0/8", "--until-idle", "--quiet"]
    assert main([*run, "--dir", str(tmp_path)]) == 2
    assert f"add --browser {program}" in capsys.readouterr().err
    assert not ran.exists()
    monkeypatch.setenv("EVERCRAWL_BROWSER", str(tmp_path / "other"))
    assert main([*run, "--dir", str(tmp_path)]) == 2
    assert not catalog.trusts_program(str(program))
    monkeypatch.setenv("EVERCRAWL_BROWSER", str(program))
    assert main([*run, "--seconds", "0", "--dir", str(tmp_path)]) in (0, 1)
    assert catalog.trusts_program(str(program))
