"""Commands of bench/ as modules, for tests of what they compute."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


def bench_command(name: str) -> ModuleType:
    """Return `bench/NAME.py` as a new module, which may import other files of that folder."""
    spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        spec.loader.exec_module(module)
    return module
