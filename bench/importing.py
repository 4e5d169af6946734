"""WARC records a CPU-second of `evercrawl import`, with and without the search index; of all of it, starting included.

    python bench/importing.py [--captures 20000] [--corpus FOLDER] [--bytes 20000] [--index with] [--keep FOLDER]

The file is written by warcio: a request and a response each, as crawlers write them, so that 500,000 captures are a
million records. Pages are those of a corpus (its .html files, again and again under other names), or made up, each
another, of so many bytes in the mean. CPU is user and system time of all processes of the import. What a start costs is
told by an import of one capture, and taken off in one column. `--keep` keeps the file for another run.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import warcio.warcwriter
from isal import isal_zlib
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

GOAL = 2_000.0
PARAGRAPHS = 4_000
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u") for c in ("", "n", "r", "st")]


class MadeUp:
    """Pages of paragraphs with a link each, drawn anew for every page, so that no two are alike; a page by its number.

    Parameters
    ----------
    count, size
        How many there are, and their bytes in the mean.
    """

    def __init__(self, count: int, size: int) -> None:
        draw = random.Random(1)
        self._paragraphs = [
            f'<div class="row"><p>{" ".join(draw.choices(WORDS, k=60))}</p>'
            f'<a href="/p/{draw.randrange(count)}">more of {draw.choice(WORDS)}</a></div>\n'
            for _ in range(PARAGRAPHS)
        ]
        self._count, self._each = count, size / statistics.fmean(map(len, self._paragraphs))

    def __len__(self) -> int:
        """Return how many there are."""
        return self._count

    def __getitem__(self, number: int) -> bytes:
        """Return the bytes of a page."""
        if number >= self._count:
            raise IndexError(number)
        draw = random.Random(number)
        drawn = draw.choices(self._paragraphs, k=max(round(draw.uniform(0.5, 1.5) * self._each), 1))
        return f"<html><head><title>page {number}</title></head><body>{''.join(drawn)}</body></html>".encode()


class Packed(warcio.warcwriter.GzippingWrapper):
    """A record compressed quickly: warcio's own level, 9, would take longer than the import."""

    def __init__(self, out) -> None:
        super().__init__(out)
        self.compressor = isal_zlib.compressobj(1, isal_zlib.DEFLATED, 31)


def write(path: Path, pages: Sequence[bytes] | MadeUp, count: int) -> None:
    """Write a WARC file, of two records each capture."""
    warcio.warcwriter.GzippingWrapper = Packed
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


def run(warc: Path, directory: Path, *flags: str) -> tuple[float, float]:
    """Import a file; return seconds of CPU and of the wall."""
    command = [sys.executable, "-m", "evercrawl", "import", str(warc), "--dir", str(directory), *flags]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began


def main() -> int:
    """Print the table; return 1 where the goal is missed."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--captures", type=int, default=20_000)
    asked.add_argument("--corpus", type=Path)
    asked.add_argument("--bytes", type=int, default=20_000)
    asked.add_argument("--index", choices=["both", "with", "without"], default="both", help="search index or none")
    asked.add_argument("--keep", type=Path, help="folder for the file; one that is there is used")
    args = asked.parse_args()
    if args.corpus is not None:
        pages = [path.read_bytes() for path in sorted(args.corpus.rglob("*.html"))[:5_000]]
    else:
        pages = MadeUp(args.captures, args.bytes)
    some = [len(pages[n]) for n in range(min(len(pages), 1000))]
    mean, records = statistics.fmean(some), 2 * args.captures
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        whole = (args.keep or work) / f"{args.captures}-{mean:.0f}.warc.gz"
        if not whole.exists():
            whole.parent.mkdir(parents=True, exist_ok=True)
            write(work / "a.warc.gz", pages, args.captures)
            shutil.move(work / "a.warc.gz", whole)
        write(work / "one.warc.gz", pages, 1)
        run(work / "one.warc.gz", work / "first", "--workers", "0")  # compiles what is not compiled yet
        print(f"{args.captures:,} captures, {records:,} records, pages of {mean:,.0f} bytes in the mean")
        print("| import | CPU s | records a CPU-s | captures a CPU-s | records a CPU-s without the start | wall s |")
        print("|---|---|---|---|---|---|", flush=True)
        rates = dict[str, float]()
        for name, flags in (("with", ()), ("without", ("--no-index",))):
            if args.index not in {"both", name}:
                continue
            start_s, _ = run(work / "one.warc.gz", work / f"one-{name}", "--workers", "0", *flags)
            cpu_s, wall_s = run(whole, work / f"all-{name}", "--workers", "0", *flags)
            rates[name] = records / cpu_s
            row = f"| {name} index | {cpu_s:.1f} | {rates[name]:,.0f} | {rates[name] / 2:,.0f} |"
            print(f"{row} {records / max(cpu_s - start_s, 1e-9):,.0f} | {wall_s:.1f} |", flush=True)
            shutil.rmtree(work / f"all-{name}")
    for name, rate in rates.items():
        print(f"{name} index: {rate / GOAL:.2f} of the goal of {GOAL:,.0f} records a CPU-second")
    return int(any(rate < GOAL for rate in rates.values()))


if __name__ == "__main__":
    sys.exit(main())
