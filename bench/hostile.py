"""Crawls of hostile sites under an outside judge: each site alone, then all in one crawl.

    python bench/hostile.py --judge JUDGE.py [--only calendar,gzip_bomb] [--jobs 2] [--render auto]

JUDGE.py may be a folder that has hostile_web.py. With `--render auto` pages go through a browser where their text
without scripts is poor, with `always` all of them. The browser's processes may then have 1 GiB beside the crawl's own
(`render_memory_bytes`), which the judge does not know: a crawl that it blames for its memory alone has passed where all
processes together keep to both bounds. The judge adds up resident sets, so that it counts what processes share in each.

The judge serves the sites and says what went wrong; it watches the memory of the crawl's processes, all together.
It runs this file too, as the adapter between it and a crawl, a contract in, a report out:

    python JUDGE.py suite --cmd "python bench/hostile.py --contract {contract} --report {report}"

The contract is JSON: seeds, allow_net, dns, limits (max_body, fetch_seconds, max_pages_per_host, max_redirects,
min_delay), seconds, agent. The report has a JSON line for each page: url, class, title, tls_ok.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ALONE_MIB, TOGETHER_MIB = 512, 512
BROWSER_MIB = 1024
UNREACHED = "nothing was reached"  # an end of its own, with an exit code of its own
RENDER = "EVERCRAWL_RENDER"  # a setting by the environment, which reaches the crawls that the judge begins
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
            kind = row["class"]
            if kind == "gone":
                kind = "error" if row["status"] >= 400 else "soft404"
            line = {"url": row["url"], "class": kind, "title": row["title"] or "", "tls_ok": row["tls_ok"]}
            out.write(json.dumps(line) + "\n")


def crawled(words: list[str], directory: Path, file: Path) -> int:
    """Run a crawl and report; return its exit code, 0 where it says that every site has asked it to stay away."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        code = subprocess.run(words, check=False, stdout=said).returncode
        said.seek(0)
        unreached = code == 1 and UNREACHED in said.read()
    if code == 0 or unreached:
        report(directory, file)
        return 0
    return code


def judged(judge: Path, work: Path, *more: str) -> list[dict[str, object]]:
    """Let the judge run its sites, print what it says, and return its results."""
    out = work / "result.json"
    me = f"{sys.executable} {Path(__file__).resolve()} --contract {{contract}} --report {{report}}"
    words = [sys.executable, str(judge.resolve()), "suite", "--cmd", me, "--out", str(out), *more]
    subprocess.run(words, check=False)
    results: list[dict[str, object]] = json.loads(out.read_text())["results"]
    return results


def sound(result: dict[str, object]) -> bool:
    """Return whether a site was met well; its page may be a copy of another site's, which it is only together."""
    faults = result["faults"]
    assert isinstance(faults, list)
    return all(str(fault).endswith("reported duplicate, wanted ok") for fault in faults)


def held(result: dict[str, object], most_mib: int) -> bool:
    """Return whether a crawl was blamed for nothing but memory, of which it took no more than it may."""
    faults = result["faults"]
    assert isinstance(faults, list)
    return all(str(fault).startswith("memory ") for fault in faults) and int(str(result.get("rss", 0))) <= most_mib


def suite(judge: Path, more: list[str], jobs: int, browser_mib: int) -> int:
    """Run everything alone and together, print the goals, and return 1 when one was missed."""
    alone_mib, together_mib = ALONE_MIB + browser_mib, TOGETHER_MIB + browser_mib
    warm = [sys.executable, "-c", "import evercrawl.crawl.session; from evercrawl.kernels import warm; warm()"]
    subprocess.run(warm, check=True)  # the first crawl on a machine compiles, which takes time and memory
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        alone = judged(judge, Path(name), *more, "--jobs", str(jobs))
        together = judged(judge, Path(name), *more, "--together")
    passed = sum(held(result, alone_mib) for result in alone)
    most = max(int(str(result.get("rss", 0))) for result in alone)
    whole = together.pop()
    beside, memory_mib = sum(sound(result) for result in together), int(str(whole["rss"]))
    sound_whole = held(whole, together_mib)
    goals = {
        f"alone {passed} of {len(alone)}": passed == len(alone),
        f"alone, peak memory {most} MiB <= {alone_mib}": most <= alone_mib,
        f"together {beside} of {len(together)}, the crawl {'sound' if sound_whole else 'not sound'}": beside
        == len(together)
        and sound_whole,
        f"together, peak memory {memory_mib} MiB <= {together_mib}": memory_mib <= together_mib,
    }
    for goal, met in goals.items():
        print(f"{'met   ' if met else 'MISSED'}  {goal}")
    return 0 if all(goals.values()) else 1


def main() -> int:
    """Run the judge, or crawl by its contract and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", type=Path, help="serves hostile sites and judges, a Python file")
    parser.add_argument("--render", default="never", choices=("never", "auto", "always"), help="pages in a browser")
    parser.add_argument("--only", default="", help="sites (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="crawls at once, while each has a site")
    parser.add_argument("--contract", type=Path)
    parser.add_argument("--report", type=Path)
    args = parser.parse_args()
    if args.judge:
        os.environ[RENDER] = args.render
        args.judge = args.judge / "hostile_web.py" if args.judge.is_dir() else args.judge
        browser_mib = BROWSER_MIB if args.render != "never" else 0
        return suite(args.judge, ["--only", args.only] if args.only else [], args.jobs, browser_mib)
    if not args.contract or not args.report:
        parser.error("--judge names the judge")
    with tempfile.TemporaryDirectory(prefix="hostile-crawl-") as name:
        directory = Path(name)
        return crawled(command(json.loads(args.contract.read_text()), directory), directory, args.report)


if __name__ == "__main__":
    sys.exit(main())
