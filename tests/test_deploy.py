"""Examples of a service: the commands in them are commands, and nobody runs as root."""

import json
import re
import shlex
from pathlib import Path

import pytest

from evercrawl.cli.main import parser

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
IMAGE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
UNIT = (DEPLOY / "evercrawl.service").read_text(encoding="utf-8")
COMPOSE = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")


def said(word: str) -> str:
    """What the last instruction of a kind in the Dockerfile says."""
    return re.findall(rf"^{word} (.*)$", re.sub(r"\\\n\s*", " ", IMAGE), re.MULTILINE)[-1]


def commands() -> list[list[str]]:
    """Every command that an example starts, without the program's name."""
    (unit,) = re.findall(r"^ExecStart=/opt/evercrawl/bin/evercrawl (.*)$", UNIT, re.MULTILINE)
    listed = [re.findall(r'"[^"]*"|[^\s,]+', line) for line in re.findall(r"command: \[(.*)\]", COMPOSE)]
    shown = re.findall(r"evercrawl(?:/bin/evercrawl)? (crawl .*)$", IMAGE + UNIT, re.MULTILINE)
    return [shlex.split(unit), json.loads(said("CMD")), *([w.strip('"') for w in line] for line in listed),
            *(shlex.split(line) for line in shown)]  # fmt: skip


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_what_they_start_are_commands(words):
    assert words[0] in {"crawl", "serve"}
    parser().parse_args(words)


def test_there_are_as_many_as_it_seems():
    assert len(commands()) == 7


def test_the_image_does_not_run_as_root_and_tells_whether_it_lives():
    assert said("USER").split(":")[0] not in {"0", "root"}
    assert "/health/live" in said("HEALTHCHECK")
    assert json.loads(said("ENTRYPOINT")) == ["evercrawl"]


def test_the_image_is_built_of_what_the_wheel_is_built_of():
    sent = set(re.findall(r"^!(.*)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE))
    assert all((ROOT / name).exists() for name in sent)
    assert {"evercrawl", "distribution", "pyproject.toml", "README.md", "LICENSE"} <= sent


def test_the_unit_gives_up_where_settings_are_wrong():
    assert "RestartPreventExitStatus=2" in UNIT
    assert re.search(r"^User=evercrawl$", UNIT, re.MULTILINE)
