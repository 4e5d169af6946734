"""The package itself: all of the literature under its own names, and nothing heavy."""

import subprocess
import sys
from importlib.util import find_spec

from evercrawl import catalog, importance


def test_importing_it_loads_numpy_and_no_kernels():
    code = "import sys, evercrawl.importance; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = run.stdout.split()
    assert "numpy" in loaded
    assert {name.partition(".")[0] for name in loaded}.isdisjoint({"numba", "llvmlite", "scipy", "pyarrow", "asyncio"})
    assert not [name for name in loaded if name.startswith("evercrawl.") and "kernel" in name]


def test_no_public_name_is_a_module_s_too():
    assert [name for name in importance.__all__ if find_spec(f"evercrawl.importance.{name}")] == []
    assert callable(importance.certificate)
    assert callable(importance.repair)


def test_every_scheme_and_window_is_there_by_name():
    for package, kind in ((importance, importance.Importance), (importance.windows, importance.Window)):
        for strategy in catalog.find(package, kind).values():
            assert getattr(importance, strategy.__name__) is strategy
            assert strategy.__name__ in importance.__all__
