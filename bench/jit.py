"""Live a made-up world once with kernels compiled ahead of time and once with plain numba, and compare their logs.

    python bench/jit.py [--seed 9]

Plain numba serves where compiling ahead of time fails. Here it is made to fail, as with another version of llvmlite, in
a process of its own. That takes some two minutes, since such a process compiles every kernel that the crawl calls.
The exit code is 1 where the two logs differ in a byte, or where the process does not say once what failed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from evercrawl.simulate.simulation import simulate

BROKEN = """
import sys
import llvmlite.binding as llvm
from evercrawl.cli.main import main
del llvm.create_lljit_compiler
sys.exit(main(["lab", "simulate", "--seed", sys.argv[1], "--jobs", "1", "--json"]))
"""
SAID = "evercrawl: compiling ahead of time failed"


def main() -> int:
    """Compare the two; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=9, help="the world (9)")
    seed = parser.parse_args().seed
    done = subprocess.run([sys.executable, "-c", BROKEN, str(seed)], capture_output=True, text=True, check=True)
    plain, ahead = json.loads(done.stdout.splitlines()[0])["hash"], simulate(seed).hash
    said = done.stderr.count(SAID)
    sound = plain == ahead and said == 1
    print(f"world {seed}: compiled ahead of time {ahead}, by plain numba {plain}; the failure was told {said} times")
    print("the same" if sound else "not the same, or not told once", file=sys.stdout if sound else sys.stderr)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
