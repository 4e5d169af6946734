"""Figures of each partition for Prometheus, in a file that node_exporter's textfile collector reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from evercrawl.cluster.wire import PartReport
from evercrawl.store.disk.disk import RealDisk

FILE: Final = "partitions.prom"
EVERY_S: Final = 10.0
_FIGURES: Final = (
    ("up", "gauge", "1 while a process of the partition is connected"),
    ("lives_total", "counter", "processes of the partition that this run began"),
    ("known_urls", "gauge", "known URLs that the partition owns"),
    ("foreign_urls", "gauge", "URLs of other partitions that it knows"),
    ("pages_held", "gauge", "pages held"),
    ("unread_urls", "gauge", "own URLs that were never fetched"),
    ("visits_total", "counter", "visits in this run"),
    ("exchanges_in_flight", "gauge", "exchanges under way"),
    ("letters_total", "counter", "letters written and applied since the crawl began"),
    ("at_rest", "gauge", "1 while nothing is left to fetch, and nothing is owed to other partitions"),
)


def figures(report: PartReport, *, up: bool, lives: int, visits: int) -> dict[str, int]:
    """Return the figures of one partition, by name."""
    return {
        "up": int(up), "lives_total": lives, "known_urls": report.known - report.elsewhere,
        "foreign_urls": report.elsewhere, "pages_held": report.fetched, "unread_urls": report.queue,
        "visits_total": visits, "exchanges_in_flight": report.in_flight, "letters_total": report.letters,
        "at_rest": int(report.at_rest),
    }  # fmt: skip


def exposition(parts: Iterable[Mapping[str, int]]) -> str:
    r"""Return figures of all partitions, in order, in the text format of Prometheus.

    Examples
    --------
    >>> one = figures(PartReport(known=7, elsewhere=2), up=True, lives=1, visits=3)
    >>> print("\n".join(exposition([one]).splitlines()[:3]))
    # HELP evercrawl_partition_up 1 while a process of the partition is connected
    # TYPE evercrawl_partition_up gauge
    evercrawl_partition_up{partition="0"} 1
    """
    rows, lines = list(parts), list[str]()
    for name, kind, meaning in _FIGURES:
        whole = f"evercrawl_partition_{name}"
        lines += [f"# HELP {whole} {meaning}", f"# TYPE {whole} {kind}"]
        lines += [f'{whole}{{partition="{number}"}} {row[name]}' for number, row in enumerate(rows)]
    return "\n".join(lines) + "\n"


def write_figures(directory: Path, parts: Iterable[Mapping[str, int]]) -> None:
    """Replace the file in a crawl's directory; nobody ever reads half of one."""
    disk = RealDisk(directory)
    try:
        disk.replace(FILE, [exposition(parts).encode()])
    finally:
        disk.close()
