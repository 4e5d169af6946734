"""Crash drills: a driver kills, cuts, damages and doubles a crawl at random moments and counts what was lost.

    python bench/crash.py --driver PATH/crash_web.py [--modes kill,tail,two,term,full,middle] [--rounds 10]
    python bench/crash.py --driver PATH/crash_web.py --full [--resume crash.jsonl]

The driver serves eight hosts on loopback; its log is the truth. It is given commands to start a crawl, to list the
archive's records (read with warcio, not with our own code), what the crawl counts as done, and what `verify` says.

| mode | what happens three times a round, before a last run that nobody disturbs |
|---|---|
| kill | SIGKILL after a random number of pages |
| tail | SIGKILL, then the newest file loses its last bytes |
| middle | SIGKILL, then 16 bytes in the middle of the newest file are turned round |
| full | no file can grow beyond a limit; the crawl has to stop and to say so |
| term | SIGTERM; it has to end in order |
| two | a second process on the same directory, which has to be refused |

After `middle` the crawl may refuse to start, naming the file; or it makes good what was damaged, says so, and loses
nothing. `--full` runs each mode as often as a release wants it. Each round has a seed of its own. `--resume FILE` keeps
the rounds in which all was well, and leaves out those that the same code has passed already.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from evercrawl.lab.kept_runs import KeptRuns, fingerprint

NOT_DRILLED = frozenset({"integrations", "lab", "library", "serve", "simulate"})
FULL = {"kill": 50, "tail": 50, "two": 10, "term": 20, "full": 10, "middle": 20}
FILE_BYTES = 125  # of any file for each page, in mode full: less than the archive of a third of the pages
LIMIT_S = 900  # for a run to come to its end: a busy machine loses nothing
GAP_S, LONG_GAP_S = 0.02, 0.1  # between requests to a host; longer where a second process has to find the first at work
WRONG = ("lost_pages", "lost_records", "lost_acked", "wrong_bodies", "second_opened", "resume_refused", "term_slow",
         "term_rc", "short_gaps", "overlaps")  # fmt: skip


def records(directory: Path) -> None:
    """Print URL, tab, SHA-1 of the body, for each response in the archive."""
    from warcio.archiveiterator import ArchiveIterator

    for file in sorted((directory / "archive").glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    body = record.content_stream().read()
                    print(record.rec_headers.get_header("WARC-Target-URI"), hashlib.sha1(body).hexdigest(), sep="\t")


def acknowledged(directory: Path) -> None:
    """Print the URLs that the crawl counts as fetched, one a line."""
    import os

    from evercrawl.store.journal.events import Visit
    from evercrawl.store.partition import Partition

    partition = Partition(directory, os.urandom, now=0.0, writable=False)
    for _, _, event in partition.journal.replay():
        if isinstance(event, Visit) and event.archive is not None:
            print(partition.state.urls.get(event.slot))


def audit(directory: Path) -> None:
    """Print what `verify` found and what the crawls said, as JSON."""
    command = [sys.executable, "-m", "evercrawl", "verify", "--dir", str(directory), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = Path(f"{directory}.out")  # where the driver keeps it
    lines = said.read_text(errors="replace").splitlines() or [""]
    files = [str(file.relative_to(directory)) for file in directory.rglob("*") if file.is_file()]
    found = {
        "verify_failed": int(done.returncode != 0),
        "tracebacks": sum(line.startswith("Traceback") for line in lines),
        "no_room": sum("no room to write" in line for line in lines),
        "named": int(lines[-1].startswith("evercrawl: ") and any(file in lines[-1] for file in files)),
    }
    print(json.dumps(found))
    if found["tracebacks"] or found["verify_failed"]:
        print(done.stdout[-2000:], done.stderr[-2000:], *lines[-20:], sep="\n", file=sys.stderr)
    said.unlink()


def faults(mode: str, row: dict[str, Any]) -> list[str]:
    """Return what went wrong in a round."""
    heard = row["audit"] or {"verify_failed": 1, "tracebacks": 0, "no_room": 0, "named": 0}
    wrong = [f"{name} {row[name]}" for name in WRONG if row.get(name)]
    wrong += ["verify failed"] if heard["verify_failed"] else []
    if mode == "middle" and row["resume_refused"] and heard["named"] and heard["verify_failed"]:
        wrong = ["wrong bodies"] if row["wrong_bodies"] else []  # it refused, and said which file is damaged
    wrong += ["a traceback"] if heard["tracebacks"] else []
    wrong += ["did not say that the disk is full"] if mode == "full" and not heard["no_room"] else []
    return wrong


def runs(driver: Path, mode: str, seed: int, pages: int) -> dict[str, Any] | None:
    """Have the driver make one round, and return what it counted; None where it ended without."""
    me = f"{sys.executable} {Path(__file__).resolve()}"
    start = (
        f"{sys.executable} -m evercrawl crawl {{seeds}} --dir {{dir}} --delay {{gap}} --until-idle --scope any "
        "--include /p/ --allow-net 127.0.0.0/8 --quiet --snapshot-every 1 --disk-wait 1"
    )
    command = [
        sys.executable, str(driver), "--mode", mode, "--rounds", "1", "--pages", str(pages),
        "--seed", str(seed), "--limit", str(LIMIT_S), "--fsize", str(FILE_BYTES * pages),
        "--gap", str(LONG_GAP_S if mode == "two" else GAP_S),
        "--start", start, "--records", f"{me} --records {{dir}}", "--acked", f"{me} --acked {{dir}}",
        "--audit", f"{me} --audit {{dir}}",
    ]  # fmt: skip
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    rows = [line for line in done.stdout.splitlines() if line.startswith('{"') and '"term_slow"' in line]
    return json.loads(rows[0]) if rows else None


def drill(driver: Path, mode: str, rounds: int, pages: int, seed: int, kept: KeptRuns | None) -> bool:
    """Run one mode and return whether nothing went wrong."""
    begun, rows, bad = time.monotonic(), list[dict[str, Any]](), 0
    for number in range(1, rounds + 1):
        name = f"{mode} {seed + number - 1} {pages}"
        line = kept.row(name) if kept is not None else None
        row = json.loads(str(line["row"])) if line is not None else runs(driver, mode, seed + number - 1, pages)
        if row is None:
            print(f"{mode} {number}/{rounds}: the driver ended without a result", flush=True)
            continue
        rows.append(row)
        wrong = faults(mode, row)
        bad += bool(wrong)
        if kept is not None and line is None and not wrong:
            kept.keep(name, {"row": json.dumps(row)})
        before = " (kept)" if line is not None else ""
        print(f"{mode} {number}/{rounds}{before}: {', '.join(wrong) or 'sound'} {json.dumps(row)}", flush=True)
    extra = sum(row["extra_records"] for row in rows)
    refused = sum(row["resume_refused"] for row in rows)
    good = len(rows) == rounds and not bad
    print(
        f"{'met   ' if good else 'MISSED'}  {mode}: {len(rows)} of {rounds} rounds, {bad} of them with something lost "
        f"or wrong; refused to start {refused}, records doubled {extra}; {time.monotonic() - begun:.0f} s",
        flush=True,
    )
    return good


def kept_in(file: Path) -> KeptRuns:
    """Return the rounds that the code which runs has passed already."""
    import evercrawl

    parts = sorted(part.name for part in Path(evercrawl.__file__).parent.iterdir() if part.name not in NOT_DRILLED)
    return KeptRuns(file, fingerprint(parts))


def main() -> int:
    """Run the drills, or one of the commands that the driver calls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", type=Path, help="the driver, a Python file")
    parser.add_argument("--modes", default="kill,tail,two,term,full,middle")
    parser.add_argument("--full", action="store_true", help="every mode as often as a release wants it")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--resume", type=Path, metavar="FILE", help="where rounds are kept")
    parser.add_argument("--jobs", type=int, default=1, help="modes at once")
    parser.add_argument("--pages", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    for name, function in (("--records", records), ("--acked", acknowledged), ("--audit", audit)):
        parser.add_argument(name, type=Path, metavar="DIR", help=function.__doc__)
    args = parser.parse_args()
    for name, function in (("records", records), ("acked", acknowledged), ("audit", audit)):
        if getattr(args, name):
            function(getattr(args, name))
            return 0
    if args.driver is None:
        parser.error("--driver names the driver")
    rounds = FULL if args.full else dict.fromkeys(args.modes.split(","), args.rounds)
    kept = None if args.resume is None else kept_in(args.resume)
    with ThreadPoolExecutor(args.jobs) as pool:
        drills = [pool.submit(drill, args.driver, mode, n, args.pages, args.seed, kept) for mode, n in rounds.items()]
        return 0 if all(done.result() for done in drills) else 1


if __name__ == "__main__":
    sys.exit(main())
