"""The adapter through which a judge of hostile sites runs a crawl: a contract in, a report out.

    python JUDGE.py suite --cmd "python bench/hostile.py --contract {contract} --report {report}"

The contract is JSON: seeds, allow_net, dns, limits (max_body, fetch_seconds, max_pages_per_host, max_redirects,
min_delay), seconds, agent. The report has a JSON line for each page: url, class, title, tls_ok.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ENDING_S = 6.0  # of the contract's seconds, kept for starting and ending


def command(contract: dict[str, object], directory: Path) -> list[str]:
    """Return the crawl that a contract asks for."""
    limits = contract["limits"]
    seeds, networks = contract["seeds"], contract["allow_net"]
    assert isinstance(limits, dict)
    assert isinstance(seeds, list)
    assert isinstance(networks, list)
    flags = {
        "--dir": directory, "--dns": contract["dns"], "--agent": contract["agent"], "--scope": "any",
        "--max-body": limits["max_body"], "--deadline": limits["fetch_seconds"], "--delay": limits["min_delay"],
        "--max-pages-per-host": limits["max_pages_per_host"], "--max-redirects": limits["max_redirects"],
        "--seconds": float(str(contract["seconds"])) - ENDING_S,
    }  # fmt: skip
    words = [sys.executable, "-m", "evercrawl", "crawl", *map(str, seeds), "--until-idle", "--json"]
    for flag, value in flags.items():
        words += [flag, str(value)]
    for network in networks:
        words += ["--allow-net", str(network)]
    return words


def report(directory: Path, file: Path) -> None:
    """Write a line for each page that was visited."""
    pages = directory / "pages.jsonl"
    words = [sys.executable, "-m", "evercrawl", "export", "pages", "--dir", str(directory), "-o", str(pages)]
    subprocess.run(words, check=True, stdout=sys.stderr)
    with pages.open(encoding="utf-8") as rows, file.open("w", encoding="utf-8") as out:
        for row in map(json.loads, rows):
            if row["class"] is None:
                continue
            kind = "error" if row["class"] == "gone" else row["class"]
            line = {"url": row["url"], "class": kind, "title": row["title"] or "", "tls_ok": row["tls_ok"]}
            out.write(json.dumps(line) + "\n")


def main() -> int:
    """Crawl by the contract and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contract", type=Path, required=True)
    parser.add_argument("--report", type=Path, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hostile-crawl-") as name:
        directory = Path(name)
        done = subprocess.run(command(json.loads(args.contract.read_text()), directory), check=False)
        if done.returncode == 0:
            report(directory, args.report)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
