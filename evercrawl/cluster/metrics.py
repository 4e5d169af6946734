"""Prometheus figures of each partition, in a file for node_exporter's textfile collector."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from evercrawl.ask.parts_figures import exposition
from evercrawl.ask.parts_line import PartState
from evercrawl.store.disk.disk import RealDisk

FILE: Final = "partitions.prom"
EVERY_S: Final = 10.0


def write_figures(directory: Path, parts: Iterable[PartState]) -> None:
    """Replace the file in a crawl's directory atomically."""
    disk = RealDisk(directory)
    try:
        disk.replace(FILE, [exposition(parts).encode()])
    finally:
        disk.close()
