"""Compiled kernels shipped with the installation: one shared object for each processor baseline.

Wheels contain them, so that neither numba nor llvmlite is needed. A JSON file beside each has its checksum, and for
each kernel module its entries and the digests of its sources. If the sources of a module have changed, it is left to
the cache and the compiler. The files are trusted like the sources beside them.
"""

import ctypes
import functools
import json
import platform
from pathlib import Path
from typing import Any, Final, NamedTuple

from evercrawl.kernels.cache import checksum, unchanged

FOLDER: Final = Path(__file__).with_name("shipped")


class Baseline(NamedTuple):
    """A kind of processor that kernels are compiled for; every processor with the required features can run them.

    `machine` is as in `platform.machine`, `processor` as in LLVM, `needs` are flags of /proc/cpuinfo.
    """

    machine: str
    processor: str
    needs: frozenset[str]


_V2: Final = frozenset(["cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"])
_V3: Final = _V2 | frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"])
BASELINES: Final = {
    "x86-64-v3": Baseline("x86_64", "x86-64-v3", _V3),
    "x86-64-v2": Baseline("x86_64", "x86-64-v2", _V2),
    "armv8-a": Baseline("aarch64", "generic", frozenset()),
}
"""Baselines by the names that their vendors use; the first that fits this processor is used."""


def symbol(module: str, entry: str) -> str:
    """Return the symbol of a kernel module's entry in a shared object."""
    return f"{module}.{entry}".replace(".", "_")


def runs_here(baseline: Baseline) -> bool:
    """Return whether this processor has all features of `baseline`."""
    return baseline.machine == platform.machine() and baseline.needs <= _abilities()


def entries_of(module: str) -> dict[str, tuple[int, str]] | None:
    """Return the entries of `module`, name -> address and type letters; None if no usable ones are shipped."""
    found = _at_hand(FOLDER)
    about = found.contents.get(module) if found else None
    if found is None or about is None or not unchanged(about["sources"]):
        return None
    return {name: (found.address(symbol(module, name)), letters) for name, letters in about["entries"].items()}


class _SharedObject(NamedTuple):
    contents: dict[str, Any]
    code: ctypes.CDLL

    def address(self, name: str) -> int:
        return ctypes.cast(getattr(self.code, name), ctypes.c_void_p).value or 0


@functools.cache
def _at_hand(folder: Path) -> _SharedObject | None:
    """Load the best shared object for this processor; None if there is none, or it is damaged."""
    for name, baseline in BASELINES.items():
        path = folder / f"{name}.so"
        try:
            about = json.loads(path.with_suffix(".json").read_bytes()) if runs_here(baseline) else None
            if about and about["checksum"] == checksum(path.read_bytes()).decode():
                return _SharedObject(about["modules"], ctypes.CDLL(str(path)))
        except (OSError, ValueError):
            continue
    return None


@functools.cache
def _abilities() -> frozenset[str]:
    """Return the features of this processor; none if they are unknown."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    return next((frozenset(line.split()) for line in lines if line.startswith("flags")), frozenset[str]())
