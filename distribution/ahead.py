"""Compile every kernel module into shared objects, one for each baseline of a kind of machine.

`python distribution/ahead.py FOLDER [--machine aarch64]` writes BASELINE.so and BASELINE.json into FOLDER, for the
machine that it runs on or for another. It needs numba, llvmlite, numpy and something that links: ld, or ziglang, which
links for every machine. Each baseline is made in a process of its own, for numba can be told only once what to do
without.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r'^_?\w+: Final = Library\("(evercrawl\.[\w.]+)"\)', re.MULTILINE)
NO_LINKER = "nothing here links for {machine}: install binutils (for ld), or pip install ziglang"


def kernel_modules() -> list[str]:
    """Return the kernel modules that the sources make use of."""
    found = (NAMED.findall(path.read_text()) for path in sorted((ROOT / "evercrawl").rglob("*.py")))
    return sorted({module for modules in found for module in modules})


def linkers(machine: str) -> Iterator[list[str]]:
    """Yield the commands that link for `machine`, the lightest first."""
    if machine == platform.machine():
        yield from ([path] for path in (shutil.which("ld"), shutil.which("ld.lld")) if path)
    if importlib.util.find_spec("ziglang"):
        yield [sys.executable, "-m", "ziglang", "ld.lld"]


def make(name: str, folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Have one baseline made by another process."""
    from evercrawl.kernels.shipped import BASELINES

    # What runs meanwhile is numba's own code for this machine: one of the same kind can be asked for no more than that.
    about = BASELINES[name]
    processor = about.processor if about.machine == platform.machine() else "generic"
    places = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
    more = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": "", "PYTHONPATH": places}
    command = [sys.executable, str(Path(__file__).resolve()), str(folder), "--only", name]
    return subprocess.Popen(command, env={**environment, **more})


def make_here(name: str, folder: Path) -> None:
    """Make one baseline in this process."""
    import llvmlite
    import numba

    from evercrawl.kernels.build import build, machine_for
    from evercrawl.kernels.cache import checksum, digests_of
    from evercrawl.kernels.shipped import BASELINES, symbol

    about = BASELINES[name]
    command = next(linkers(about.machine), None) or sys.exit(NO_LINKER.format(machine=about.machine))
    machine = machine_for(f"{about.machine}-unknown-linux-gnu", about.processor)
    modules, contents = kernel_modules(), {}
    with tempfile.TemporaryDirectory() as parts:
        for k, module in enumerate(modules, 1):
            entries, code = build(module, machine, lambda entry, of=module: symbol(of, entry))
            (Path(parts) / f"{k}.o").write_bytes(code)
            contents[module] = {"entries": entries, "sources": digests_of(module)}
            sys.stderr.write(f"inner loops for {name}: {k} of {len(modules)} compiled\n")
        objects = [str(Path(parts) / f"{k}.o") for k in range(1, len(modules) + 1)]
        out = folder / f"{name}.so"
        subprocess.run(
            [*command, "-shared", "-z", "noexecstack", "--strip-debug", "-o", str(out), *objects], check=True
        )
    made = {"made_with": f"numba {numba.__version__}, llvmlite {llvmlite.__version__}", "modules": contents}
    said = {"baseline": name, "checksum": checksum(out.read_bytes()).decode(), **made}
    out.with_suffix(".json").write_text(json.dumps(said, indent=1, sort_keys=True) + "\n")


def make_all(folder: Path, machine: str) -> int:
    """Make every baseline of a kind of machine; return 1 if one could not be made.

    Raises
    ------
    SystemExit
        No baseline is of that kind of machine.
    """
    sys.path.insert(0, str(ROOT))
    from evercrawl.kernels.shipped import BASELINES

    names = [name for name, about in BASELINES.items() if about.machine == machine]
    if not names:
        known = ", ".join(sorted({about.machine for about in BASELINES.values()}))
        sys.exit(f"no baseline is known of {machine}: the inner loops can be compiled for {known}")
    folder.mkdir(parents=True, exist_ok=True)
    at_once = [make(name, folder, dict(os.environ)) for name in names]
    return max(process.wait() for process in at_once)


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to write")
    parser.add_argument("--machine", default=platform.machine(), help="as uname -m tells it (default: this one)")
    parser.add_argument("--only", help="make this baseline only")
    args = parser.parse_args()
    if args.only:
        make_here(args.only, args.folder)
        return 0
    return make_all(args.folder, args.machine)


if __name__ == "__main__":
    sys.exit(main())
