"""All tables of policies in full, each kept with the command that made it: `make figures`.

    python bench/regenerate.py HISTORIES
    python bench/regenerate.py HISTORIES --only freshness --only gaps
    python bench/regenerate.py --list

One table after the other is made, by hours of computing in all, and written to OUT/NAME.txt: the command, the version
of the code that policies and histories depend on, the exit code, and what was printed. A table that this code has
made is not made again, and commands keep their own runs, so an interrupted one goes on where it was (but `poisson`,
minutes of it). Tables of recorded histories need HISTORIES, a folder of them; without it they are left out, and named.
Exits 1 when a command failed; one that says that a goal was missed (exit code 1) is kept, and told.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

from evercrawl.lab.kept_runs import fingerprint

HISTORIES: Final = "HISTORIES"
"""Stands for the folder of histories in commands."""
_KEPT: Final = "--runs OUT/replays"
_MISSED: Final = 1  # the exit code of a command that ran to its end and missed a goal
_CRASHED: Final = 70  # what ended with an exception, which Python gives the same code


class Table(NamedTuple):
    """What a table is called, and the command that prints it, less the interpreter; runs are kept in `OUT`.

    `KEPT` stands for the option by which replays are.
    """

    name: str
    command: str


TABLES: Final = (
    Table("freshness", "-m evercrawl lab freshness --out OUT/lab"),
    Table("systems", "-m evercrawl lab systems --out OUT/lab"),
    Table("sensitivity", "-m evercrawl lab sensitivity --pages 10000 --out OUT/lab"),
    Table("signals", "-m evercrawl lab signals --pages 10000 --out OUT/lab"),
    Table("drift", "-m evercrawl lab drift --out OUT/lab"),
    Table("vanishing", "-m evercrawl lab vanishing --out OUT/lab"),
    Table("flickering", "-m evercrawl lab flickering --out OUT/lab"),
    Table("gaps", "bench/backtest.py HISTORIES --only gaps KEPT"),
    Table("pooled", "bench/backtest.py HISTORIES --only pooled KEPT"),
    Table("poisson", "bench/backtest.py HISTORIES --only poisson"),
    Table(
        "rivals",
        "bench/backtest.py HISTORIES --only rivals --windows 5 --budget 0.005 --budget 0.02 KEPT",
    ),
    Table("ablation-0.005", "bench/backtest.py HISTORIES --only ablation --budget 0.005 KEPT"),
    Table("ablation-0.02", "bench/backtest.py HISTORIES --only ablation --budget 0.02 --sample 1500 KEPT"),
    Table("left-out", "bench/backtest.py HISTORIES --leave-one-out --compiled --kept OUT/left-out.jsonl"),
    Table("policies", "bench/policies.py HISTORIES KEPT"),
    Table("hindsight", "bench/hindsight.py HISTORIES KEPT"),
    Table("foresight", "bench/foresight.py HISTORIES --site ota-contrib"),
    Table("reliability", "bench/reliability.py HISTORIES"),
)


def main() -> int:
    """Make the tables that are missing; return 1 when a command failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", nargs="?", help="a folder of them")
    parser.add_argument("--only", action="append", choices=[table.name for table in TABLES], help="may be repeated")
    parser.add_argument("--out", type=Path, default=Path("lab/figures"), help="folder (default: lab/figures)")
    parser.add_argument("--list", action="store_true", help="print the commands, and which tables are there")
    o = parser.parse_args()
    code, failed = fingerprint(), False
    for table in (table for table in TABLES if o.only is None or table.name in o.only):
        path, command = o.out / f"{table.name}.txt", command_of(table, o.histories, o.out)
        there = made(path, command, code)
        if o.list:
            print(f"{'there' if there else '-':<6}{table.name:<16}{command}")
        elif there:
            print(f"{table.name}: there", flush=True)
        elif HISTORIES in command:
            print(f"{table.name}: left out, it needs a folder of histories", flush=True)
        else:
            failed |= make(table.name, path, command, code) not in (0, _MISSED)
    return int(failed)


def command_of(table: Table, histories: str | None, out: Path) -> str:
    """Return the command of a table, as a shell takes it.

    >>> command_of(Table("gaps", "bench/backtest.py HISTORIES --only gaps"), "my histories", Path("lab"))
    "python bench/backtest.py 'my histories' --only gaps"
    """
    words = [word.replace("OUT/", f"{out}/") for word in table.command.replace("KEPT", _KEPT).split()]
    return shlex.join(["python", *(histories if word == HISTORIES and histories else word for word in words)])


def made(path: Path, command: str, code: str) -> bool:
    """Tell whether a table was made by this command and this code."""
    if not path.exists():
        return False
    return path.read_text(encoding="utf-8").splitlines()[:2] == [f"$ {command}", f"code {code}"]


def make(name: str, path: Path, command: str, code: str) -> int:
    """Run a command and keep what it printed, whole or not at all; return its exit code."""
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"{name}: {command}", flush=True)
    part, log, began_s = path.with_suffix(".part"), path.with_suffix(".log"), time.monotonic()
    with part.open("w", encoding="utf-8") as file, log.open("w", encoding="utf-8") as errors:
        file.write(f"$ {command}\ncode {code}\n\n")
        file.flush()
        words = [sys.executable, *shlex.split(command)[1:]]
        done = subprocess.run(words, stdout=file, stderr=errors, check=False).returncode
        file.seek(0, 2)
        file.write(f"\nexit code {done}\n")
    if done == _MISSED and "Traceback" in log.read_text(encoding="utf-8"):
        done = _CRASHED
    says = {0: "made", _MISSED: "made, and a goal was missed"}.get(done, f"failed with {done}, see {log}")
    if done in (0, _MISSED):
        part.replace(path)
    print(f"{name}: {says} ({time.monotonic() - began_s:.0f} s)", flush=True)
    return done


if __name__ == "__main__":
    sys.exit(main())
