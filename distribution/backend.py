"""Build wheels with setuptools, and put the compiled inner loops into them.

pip calls the functions below (PEP 517). A wheel is for one kind of machine and any Python: what is compiled is no
extension of Python. `pip wheel . -C machine=aarch64` makes the wheel of another kind of machine. Editable
installations compile what they need when they first need it, as it changes.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

sys.path.insert(0, str(Path(__file__).parent))
import ahead

TAG = "manylinux_2_17_{machine}"


def machine_of(settings: dict[str, Any] | None) -> str:
    """Return the kind of machine that a wheel is asked for."""
    return str((settings or {}).get("machine", platform.machine()))


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what compiles and links, beside what setuptools asks for."""
    linker = [] if next(ahead.linkers(machine_of(config_settings)), None) else ["ziglang>=0.13"]
    project = tomllib.loads((ahead.ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["jit"]]  # kernels import their neighbours
    return [*build_meta.get_requires_for_build_wheel(), *needed, "wheel>=0.45", *linker]


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel of Python's, and make it one of a kind of machine; return its name."""
    machine = machine_of(config_settings)
    with tempfile.TemporaryDirectory() as place:
        plain = build_meta.build_wheel(place, None, metadata_directory)
        _wheel("unpack", str(Path(place) / plain), "--dest", place)
        tree = next(path for path in Path(place).iterdir() if path.is_dir())
        ahead_py = [sys.executable, str(Path(__file__).with_name("ahead.py"))]
        subprocess.run([*ahead_py, str(tree / "evercrawl/kernels/shipped"), "--machine", machine], check=True)
        (Path(place) / plain).unlink()
        _wheel("pack", str(tree), "--dest-dir", place)
        (packed,) = Path(place).glob("*.whl")
        _wheel("tags", "--platform-tag", TAG.format(machine=machine), "--remove", str(packed))
        (made,) = Path(place).glob("*.whl")
        target = Path(wheel_directory) / made.name
        target.write_bytes(made.read_bytes())
    return target.name


def _wheel(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "wheel", *arguments], check=True, stdout=subprocess.DEVNULL)
