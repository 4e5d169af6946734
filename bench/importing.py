"""WARC records a CPU-second of `evercrawl import`, with and without the search index; of all of it, starting included.

    python bench/importing.py [--captures 20000] [--corpus FOLDER] [--bytes 20000]

The file is written by warcio: a request and a response each, as crawlers write them. Pages are those of a corpus (its
.html files, again and again under other names), or made up, of so many bytes in the mean. CPU is user and system time
of all processes of the import. What a start costs is told by an import of one capture, and taken off in one column. A
rate for a million records is one of fewer, extrapolated: nothing in an import grows faster than its records.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

GOAL = 2_000.0
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u") for c in ("", "n", "r", "st")]


def made_up(count: int, size: int) -> list[bytes]:
    """Return pages of words, links and tags, of `size` bytes in the mean."""
    draw, pages = random.Random(1), list[bytes]()
    for n in range(min(count, 500)):
        parts, left = [f"<html><head><title>page {n}</title></head><body>"], draw.uniform(0.5, 1.5) * size
        while left > 0:
            text = " ".join(draw.choices(WORDS, k=60))
            link = f'<a href="/p/{draw.randrange(count)}">more of {draw.choice(WORDS)}</a>'
            part = f'<div class="row"><p>{text}</p>{link}</div>\n'
            parts.append(part)
            left -= len(part)
        pages.append("".join([*parts, "</body></html>"]).encode())
    return pages


def write(path: Path, pages: list[bytes], count: int) -> int:
    """Write a WARC file; return how many records are in it."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for n in range(count):
            host, at = n % 200, 1_750_000_000 + n
            url = f"http://h{host}.example/p/{n}"
            date = {"WARC-Date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))}
            body = pages[n % len(pages)].replace(b"<body", b"<body data-n='%d'" % n, 1)
            head = StatusAndHeaders(
                "200 OK", [("Content-Type", "text/html"), ("Server", "made up")], protocol="HTTP/1.1"
            )
            asked = StatusAndHeaders(f"GET /p/{n} HTTP/1.1", [("Host", f"h{host}.example")], is_http_request=True)
            response = writer.create_warc_record(
                url, "response", io.BytesIO(body), http_headers=head, warc_headers_dict=date
            )
            request = writer.create_warc_record(url, "request", http_headers=asked, warc_headers_dict=date)
            writer.write_request_response_pair(request, response)
    return 2 * count


def run(warc: Path, directory: Path, *flags: str) -> tuple[float, float]:
    """Import a file; return seconds of CPU and of the wall."""
    command = [sys.executable, "-m", "evercrawl", "import", str(warc), "--dir", str(directory), *flags]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began


def main() -> None:
    """Print the table."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--captures", type=int, default=20_000)
    asked.add_argument("--corpus", type=Path)
    asked.add_argument("--bytes", type=int, default=20_000)
    args = asked.parse_args()
    if args.corpus is not None:
        pages = [path.read_bytes() for path in sorted(args.corpus.rglob("*.html"))[:5_000]]
    else:
        pages = made_up(args.captures, args.bytes)
    mean = sum(map(len, pages)) / len(pages)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        records = write(work / "a.warc.gz", pages, args.captures)
        write(work / "one.warc.gz", pages, 1)
        run(work / "one.warc.gz", work / "first", "--workers", "0")  # compiles what is not compiled yet
        print(f"{args.captures:,} captures, {records:,} records, pages of {mean:,.0f} bytes in the mean")
        print("| import | CPU s | records a CPU-s | captures a CPU-s | records a CPU-s without the start | wall s |")
        print("|---|---|---|---|---|---|")
        for name, flags in (("everything", ()), ("without the index", ("--no-index",))):
            start_s, _ = run(work / "one.warc.gz", work / f"one-{len(flags)}", "--workers", "0", *flags)
            cpu_s, wall_s = run(work / "a.warc.gz", work / f"all-{len(flags)}", "--workers", "0", *flags)
            rate, net = records / cpu_s, records / max(cpu_s - start_s, 1e-9)
            row = f"| {name} | {cpu_s:.1f} | {rate:,.0f} | {rate / 2:,.0f} | {net:,.0f} | {wall_s:.1f} |"
            print(row + ("" if rate >= GOAL else f" goal {GOAL:,.0f}"), flush=True)
    missed = " (missed)" if rate < GOAL else ""
    print(f"a million records would take {1e6 / net:,.0f} s of one core without the index, extrapolated{missed}")


if __name__ == "__main__":
    main()
