"""What starting costs: wall and CPU time and memory of `--help`, and of a crawl of one page.

    python bench/start.py [--runs 10]

Serves one page on loopback. The first crawl compiles the kernels where that was never done, and is not counted.
"""

from __future__ import annotations

import argparse
import http.server
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from figures import Figure

HELP_S = 0.3


class Page(http.server.BaseHTTPRequestHandler):
    """One page, and no robots.txt."""

    def do_GET(self) -> None:
        """Answer."""
        body = b"<title>one</title>" if self.path == "/" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def timed(command: list[str]) -> tuple[float, float, float]:
    """Return wall seconds, CPU seconds and peak memory in MiB."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} exited {process.returncode}")
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def medians(command: list[str], runs: int) -> list[float]:
    """Return the medians of `timed`."""
    return [statistics.median(column) for column in zip(*(timed(command) for _ in range(runs)), strict=True)]


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    evercrawl = [sys.executable, "-m", "evercrawl"]
    figures = list[Figure]()
    wall_s, cpu_s, memory_mib = medians([*evercrawl, "--help"], runs)
    figures += [Figure("--help, wall", wall_s, "s", at_most=HELP_S), Figure("--help, CPU", cpu_s, "s")]
    with tempfile.TemporaryDirectory() as folder:
        seed = f"http://127.0.0.1:{server.server_port}/"
        crawl = [*evercrawl, "crawl", seed, "--dir", folder, "--pages", "1", "--delay", "0", "--refresh-after", "0"]
        crawl += ["--allow-net", "127.0.0.0/8", "--quiet"]
        timed(crawl)
        wall_s, cpu_s, memory_mib = medians(crawl, runs)
    figures += [Figure("crawl --pages 1, wall", wall_s, "s"), Figure("crawl --pages 1, CPU", cpu_s, "s")]
    figures += [Figure("crawl --pages 1, memory", memory_mib, "MiB")]
    print(*figures, sep="\n")
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
