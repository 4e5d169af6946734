"""evercrawl lab policies: the list, and one of them."""

import argparse
import importlib
import json

import pytest

from evercrawl.cli.main import LAB_VERBS, main, modules, parser
from evercrawl.model.policy.policies import names


def test_all_are_listed_with_what_they_do(capsys):
    assert main(["policies"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["policy", "what", "it", "does"]
    assert [line.split()[0] for line in lines] == names()
    assert all(len(line.split()) > 3 for line in lines)


def test_one_is_told_with_its_parameters_and_the_columns_of_its_tables(capsys):
    assert main(["policies", "tianwang"]) == 0
    told = capsys.readouterr().out
    assert "\n  capacity=0\n    N_C, the number of visits per cycle; 0: as many" in told
    assert "\npolicy.RemainedURLs: " in told
    assert "\n  due_at (instant)\n" in told


def test_json_has_the_same(capsys):
    assert main(["policies", "breadth-first", "--json"]) == 0
    (found,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (found["name"], found["options"], found["tables"]) == ("breadth_first", [], [])
    assert main(["policies", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(names())


def test_what_is_none_is_refused_with_those_that_are(capsys):
    assert main(["policies", "dearest"]) == 2
    assert "choose one of: azar" in capsys.readouterr().err


def verbs() -> list[str]:
    found = argparse.ArgumentParser().add_subparsers()
    for name in modules():
        importlib.import_module(f"evercrawl.cli.verbs.{name}").add(found)
    return sorted(found.choices)


@pytest.mark.parametrize("verb", verbs())
def test_help_has_examples_that_can_be_read(verb, capsys):
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    called = f"lab {verb}" if verb in LAB_VERBS else verb
    told = " ".join(capsys.readouterr().out.split()).partition("Examples: ")[2]
    examples = [part for part in told.split("`") if part.startswith(f"evercrawl {called}")]
    assert examples
    for example in examples:
        words = __import__("shlex").split(example)
        parser().parse_args(words[2:] if verb in LAB_VERBS else words[1:])
