"""Agreement with reference verdicts on real robots.txt files, and the cost of a check, beside protego's.

`python bench/robots.py --cases PATH`: a JSON Lines file, one robots.txt a row: {"robots": text, "checks": [{"agent":
token, "urls": [...], "allowed": "0101..."}]}. Exits 1 when less than 99.95 % of the verdicts agree.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercrawl.fetch.robots import parse

if TYPE_CHECKING:
    from collections.abc import Callable

FLOOR = 0.9995
ROUNDS = 5


def main() -> int:
    """Print agreement and cost; return the exit code."""
    parser = argparse.ArgumentParser(description="Compare robots.txt verdicts with a table of reference verdicts.")
    parser.add_argument("--cases", required=True, type=Path, metavar="PATH", help="JSON Lines file with the verdicts")
    rows = [json.loads(line) for line in parser.parse_args().cases.read_text("utf-8").splitlines()]

    checks, agreed = agreement(rows, lambda text, agent: parse(text.encode()).rules(agent).allowed, path_of)
    check_us = cost_us(rows, lambda text, agent: parse(text.encode()).rules(agent).allowed, path_of)
    size_bytes = sum(len(row["robots"].encode()) for row in rows)
    print(f"files {len(rows)}, verdicts {checks}")
    print(f"evercrawl  agree {agreed / checks:8.3%}  {check_us:6.2f} us a check")
    print(f"           parse and compile {parse_us(rows):6.1f} us a file of {size_bytes / len(rows) / 1000:.1f} kB")
    try:
        protego: Any = importlib.import_module("protego")
    except ImportError:
        print("protego    not installed")
    else:

        def asks(text: str, agent: str) -> Callable[[str], bool]:
            rules = protego.Protego.parse(text)
            return lambda url: bool(rules.can_fetch(url, agent))

        _, their_agreed = agreement(rows, asks, str)
        their_us = cost_us(rows, asks, str)
        print(f"protego    agree {their_agreed / checks:8.3%}  {their_us:6.2f} us a check")
        print(f"ratio      {their_us / check_us:.1f}x")
    return 0 if agreed / checks >= FLOOR else 1


def path_of(url: str) -> str:
    """Return path and query of `url` as they stand."""
    rest = url.partition("#")[0].partition("//")[2]
    slash = rest.find("/")
    return rest[slash:] if slash >= 0 else "/"


def agreement(
    rows: list[Any], asks: Callable[[str, str], Callable[[str], bool]], subject: Callable[[str], str]
) -> tuple[int, int]:
    """Return the number of verdicts, and how many agree."""
    checks = agreed = 0
    for row in rows:
        for check in row["checks"]:
            allowed = asks(row["robots"], check["agent"])
            checks += len(check["urls"])
            agreed += sum(
                allowed(subject(url)) == (want == "1")
                for url, want in zip(check["urls"], check["allowed"], strict=True)
            )
    return checks, agreed


def cost_us(rows: list[Any], asks: Callable[[str, str], Callable[[str], bool]], subject: Callable[[str], str]) -> float:
    """Return the median over rounds of the mean time of one check, in us; files are read beforehand."""
    work = [
        (asks(row["robots"], check["agent"]), [subject(url) for url in check["urls"]])
        for row in rows
        for check in row["checks"]
    ]
    checks = sum(len(subjects) for _, subjects in work)
    rounds: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for allowed, subjects in work:
            for each in subjects:
                allowed(each)
        rounds.append((time.process_time() - start) / checks * 1e6)
    return statistics.median(rounds)


def parse_us(rows: list[Any]) -> float:
    """Return the median over rounds of the mean time to read a file and compile our rules, in us."""
    bodies = [row["robots"].encode() for row in rows]
    rounds: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for body in bodies:
            parse(body).rules("evercrawl")
        rounds.append((time.process_time() - start) / len(bodies) * 1e6)
    return statistics.median(rounds)


if __name__ == "__main__":
    sys.exit(main())
