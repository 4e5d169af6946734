"""Crash drills: a driver kills, cuts and doubles a crawl at random moments and counts what was lost.

    python bench/crash.py --driver PATH/crash_web.py [--modes kill,tail,two,term] [--rounds 10]

The driver serves eight hosts on loopback; its log is the truth. It is given commands to start a crawl, to list the
archive's records (read with warcio, not with our own code), what the crawl counts as done, and what `verify` says.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path

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

    from evercrawl.parse.digest import keys
    from evercrawl.store.events import Visit
    from evercrawl.store.partition import Partition

    partition = Partition(directory, keys, os.urandom, now=0.0, writable=False)
    for _, _, event in partition.journal.replay():
        if isinstance(event, Visit) and event.archive is not None:
            print(partition.state.urls.get(event.slot))


def audit(directory: Path) -> None:
    """Print what `verify` found, as JSON."""
    command = [sys.executable, "-m", "evercrawl", "verify", "--dir", str(directory), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(json.dumps({"verify_failed": int(done.returncode != 0)}))
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)


def drill(driver: Path, mode: str, rounds: int, pages: int, seed: int) -> bool:
    """Run one mode and return whether nothing went wrong."""
    me = f"{sys.executable} {Path(__file__).resolve()}"
    start = (
        f"{sys.executable} -m evercrawl crawl {{seeds}} --dir {{dir}} --delay {{gap}} --until-idle --scope any "
        "--include /p/ --allow-net 127.0.0.0/8 --quiet --snapshot-every 1"
    )
    command = [
        sys.executable, str(driver), "--mode", mode, "--rounds", str(rounds), "--pages", str(pages),
        "--seed", str(seed),
        "--start", start, "--records", f"{me} --records {{dir}}", "--acked", f"{me} --acked {{dir}}",
        "--audit", f"{me} --audit {{dir}}",
    ]  # fmt: skip
    rows = list[dict[str, object]]()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith('{"') and '"term_slow"' in line:
                rows.append(json.loads(line))
                print(f"{mode} {len(rows)}/{rounds}: {line.strip()}", flush=True)
    wrong = {name: sum(int(str(row.get(name, 0))) for row in rows) for name in WRONG}
    broken = sum(1 for row in rows if row.get("audit") != {"verify_failed": 0})
    extra = sum(int(str(row["extra_records"])) for row in rows)
    good = len(rows) == rounds and not any(wrong.values()) and not broken
    found = ", ".join(f"{name} {count}" for name, count in wrong.items() if count) or "nothing lost"
    print(
        f"{'met   ' if good else 'MISSED'}  {mode}: {len(rows)} rounds, {found}, verify failed {broken}, extra {extra}"
    )
    return good


def main() -> int:
    """Run the drills, or one of the commands that the driver calls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", type=Path, help="the driver, a Python file")
    parser.add_argument("--modes", default="kill,tail,two,term")
    parser.add_argument("--rounds", type=int, default=10)
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
    results = [drill(args.driver, mode, args.rounds, args.pages, args.seed) for mode in args.modes.split(",")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
