"""Crawls of hostile sites under an outside judge: each site alone, then all in one crawl.

    python bench/hostile.py --judge JUDGE.py [--only calendar,gzip_bomb] [--jobs 2] [--render auto]

JUDGE.py may be a folder that has hostile_web.py. With `--render auto` pages go through a browser where their text
without scripts is poor, with `always` all of them. The browser's processes may then have 1 GiB (`render_memory_bytes`)
beside the crawl's own. The judge adds up what all processes have in memory, with what they share in each, so both are
measured here, by their proportional shares, and a crawl that the judge blames for its memory alone has passed.

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
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evercrawl.crawl.rendering import processes

ALONE_MIB, TOGETHER_MIB = 512, 512
BROWSER_MIB = 1024
UNREACHED = "nothing was reached"  # an end of its own, with an exit code of its own
PEAKS = "HOSTILE_PEAKS"  # a folder for how much memory crawls took, which reaches them likewise
LOOK_S = 0.2
RENDER = "EVERCRAWL_RENDER"  # a setting by the environment, which reaches the crawls that the judge begins
ENDING_S, BROWSER_ENDING_S = 6.0, 10.0  # of the contract's seconds, kept for starting and ending


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
    }  # fmt: skip
    ending_s = ENDING_S if os.environ.get(RENDER, "never") == "never" else BROWSER_ENDING_S
    flags["--seconds"] = float(str(contract["seconds"])) - ending_s
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
        with subprocess.Popen(words, stdout=said) as process:
            measure(process)
        code = process.returncode
        said.seek(0)
        unreached = code == 1 and UNREACHED in said.read()
    if code == 0 or unreached:
        report(directory, file)
        return 0
    return code


def measure(process: subprocess.Popen[bytes]) -> None:
    """Write down, once it has ended, how much memory a crawl took at most, and its browser (MiB)."""
    most = [0, 0]
    while process.poll() is None:
        time.sleep(LOOK_S)
        tree = list(processes.descendants(process.pid))
        of_browser = {pid for driver in tree if drives(driver) for pid in (driver, *processes.descendants(driver))}
        sizes = [0, 0]
        for one in processes.measured(process.pid):
            sizes[one.pid in of_browser] += one.size_bytes >> 20
        most = [max(pair) for pair in zip(most, sizes, strict=True)]
    if os.environ.get(PEAKS):
        (Path(os.environ[PEAKS]) / str(os.getpid())).write_text(json.dumps(most))


def drives(pid: int) -> bool:
    """Return whether a process drives a browser."""
    try:
        return b"run-driver" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def judged(judge: Path, work: Path, *more: str) -> list[dict[str, object]]:
    """Let the judge run its sites, print what it says, and return its results."""
    out = work / "result.json"
    me = f"{sys.executable} {Path(__file__).resolve()} --contract {{contract}} --report {{report}}"
    words = [sys.executable, str(judge.resolve()), "suite", "--cmd", me, "--out", str(out), *more]
    (work / "peaks").mkdir(exist_ok=True)
    subprocess.run(words, check=False, env=os.environ | {PEAKS: str(work / "peaks")})
    results: list[dict[str, object]] = json.loads(out.read_text())["results"]
    return results


def sound(result: dict[str, object]) -> bool:
    """Return whether a site was met well; its page may be a copy of another site's, which it is only together."""
    faults = result["faults"]
    assert isinstance(faults, list)
    return all(str(fault).endswith("reported duplicate, wanted ok") for fault in faults)


def held(result: dict[str, object]) -> bool:
    """Return whether a crawl was blamed for nothing but memory, which is measured here."""
    faults = result["faults"]
    assert isinstance(faults, list)
    return all(str(fault).startswith("memory ") for fault in faults)


def peaks(work: Path) -> tuple[int, int]:
    """Return how much memory a crawl took at most, and a browser, of those since the last call (MiB)."""
    found = [json.loads(file.read_text()) for file in (work / "peaks").iterdir()]
    shutil.rmtree(work / "peaks")
    own, browser = map(max, zip(*found, strict=True))
    return own, browser


def suite(judge: Path, more: list[str], jobs: int) -> int:
    """Run everything alone and together, print the goals, and return 1 when one was missed."""
    warm = [sys.executable, "-c", "import evercrawl.crawl.session; from evercrawl.kernels import warm; warm()"]
    subprocess.run(warm, check=True)  # the first crawl on a machine compiles, which takes time and memory
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        work = Path(name)
        alone = judged(judge, work, *more, "--jobs", str(jobs))
        (own, browser) = peaks(work)
        together = judged(judge, work, *more, "--together")
        (own_together, browser_together) = peaks(work)
    passed = sum(map(held, alone))
    whole = together.pop()
    beside = sum(map(sound, together))
    goals = {
        f"alone {passed} of {len(alone)}": passed == len(alone),
        f"alone, peak memory {own} MiB <= {ALONE_MIB}, of the browser {browser} MiB <= {BROWSER_MIB}": own <= ALONE_MIB
        and browser <= BROWSER_MIB,
        f"together {beside} of {len(together)}, the crawl {'sound' if held(whole) else 'not sound'}": beside
        == len(together)
        and held(whole),
        f"together, peak memory {own_together} MiB <= {TOGETHER_MIB}, of the browser {browser_together} MiB <= "
        f"{BROWSER_MIB}": own_together <= TOGETHER_MIB and browser_together <= BROWSER_MIB,
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
        return suite(args.judge, ["--only", args.only] if args.only else [], args.jobs)
    if not args.contract or not args.report:
        parser.error("--judge names the judge")
    with tempfile.TemporaryDirectory(prefix="hostile-crawl-") as name:
        directory = Path(name)
        return crawled(command(json.loads(args.contract.read_text()), directory), directory, args.report)


if __name__ == "__main__":
    sys.exit(main())
