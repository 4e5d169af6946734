"""Kernels that came with the installation, in a shared object that is made for each test."""

import importlib.util
import itertools
import json
import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest

from evercrawl import extras
from evercrawl.ask.export import files
from evercrawl.errors import ConfigError
from evercrawl.kernels import Library, build, library, pointer, shipped
from evercrawl.kernels.cache import VARIABLE, checksum, digests_of

ROOT = Path(__file__).parents[2]
KERNEL = """
import numpy as np
from evercrawl.kernels.build import entry, i64, pointer, view

@entry(i64, pointer(np.int64), i64)
def total(values, n):
    sum = 0
    for value in view(values, n):
        sum += value
    return sum
"""
count = itertools.count()


def ahead():
    """What builds wheels, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("ahead", ROOT / "distribution" / "ahead.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A new kernel module, and a folder with a shared object of it for any processor of this kind."""
    command = next(ahead().linkers(platform.machine()), None)
    if command is None:
        pytest.skip("nothing here links")
    name = f"shipped{next(count)}"
    (tmp_path / f"{name}.py").write_text(KERNEL)
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    (tmp_path / name / "kernel.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setattr(Library, "named", [])
    module = f"{name}.kernel"
    entries, code = build.build(module, symbol=lambda entry: shipped.symbol(module, entry))
    (tmp_path / "1.o").write_bytes(code)
    out = tmp_path / "any.so"
    subprocess.run([*command, "-shared", "-o", out, tmp_path / "1.o"], check=True)
    about = {module: {"entries": entries, "sources": digests_of(module)}}
    said = {"checksum": checksum(out.read_bytes()).decode(), "modules": about}
    out.with_suffix(".json").write_text(json.dumps(said))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setattr(shipped, "BASELINES", {"any": shipped.Baseline(platform.machine(), "any", frozenset())})
    return module


def total(module):
    return Library(module)["total"](pointer(np.arange(5)), 5)


def test_they_serve_where_nothing_can_be_compiled(module, monkeypatch):
    monkeypatch.setattr(library, "can_compile", lambda: False)
    assert Library(module).found()
    assert total(module) == 10


def test_they_are_taken_before_anything_is_compiled(module, tmp_path):
    assert total(module) == 10
    assert not list(tmp_path.rglob("*.kernels"))


@pytest.fixture(params=["another source", "damaged", "cut", "no such processor", "not said what it is"])
def useless(request, module, tmp_path, monkeypatch):
    """A shared object that must not be used."""
    out = tmp_path / "any.so"
    if request.param == "another source":
        path = tmp_path / module.partition(".")[0] / "kernel.py"
        path.write_text(path.read_text().replace("sum += value", "sum += 2 * value"))
    elif request.param == "damaged":
        out.write_bytes(out.read_bytes()[:-1] + b"x")
    elif request.param == "cut":
        out.write_bytes(out.read_bytes()[:100])
    elif request.param == "no such processor":
        needs = frozenset(["no-such-ability"])
        monkeypatch.setattr(shipped, "BASELINES", {"any": shipped.Baseline(platform.machine(), "any", needs)})
    else:
        out.with_suffix(".json").write_text("{")
    return module


def test_what_does_not_fit_is_left_to_the_compiler(useless, tmp_path):
    assert not Library(useless).found()
    assert total(useless) in {10, 20}
    assert list(tmp_path.rglob("*.kernels"))


def test_who_has_no_compiler_either_is_told_what_to_install(useless, monkeypatch):
    monkeypatch.setattr(library, "can_compile", lambda: False)
    with pytest.raises(ConfigError, match=r"pip install 'evercrawl\[jit\]'"):
        total(useless)


def test_processors_of_another_kind_are_passed_over(module, monkeypatch):
    monkeypatch.setattr(shipped, "BASELINES", {"any": shipped.Baseline("another", "any", frozenset())})
    assert shipped.entries_of(module) is None


def test_a_wheel_brings_every_kernel_module_that_is_made_use_of():
    named = {
        module
        for path in (ROOT / "evercrawl").rglob("*.py")
        for module in [
            line.split('Library("')[1].split('"')[0] for line in path.read_text().splitlines() if 'Library("' in line
        ]
    }
    assert set(ahead().kernel_modules()) == named
    assert len(named) > 20


def test_an_older_baseline_asks_for_less():
    """The first that runs here is taken, so that those that ask for more come first."""
    of_x86 = [baseline.needs for baseline in shipped.BASELINES.values() if baseline.machine == "x86_64"]
    assert of_x86 == sorted(of_x86, key=len, reverse=True)
    assert all(less < more for more, less in itertools.pairwise(of_x86))


def test_who_lacks_an_extra_is_told_its_name_before_anything_is_written(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"Parquet files need pyarrow: pip install 'evercrawl\[parquet\]'"):
        files.check_name("pages.parquet")
    files.check_name("pages.jsonl")
