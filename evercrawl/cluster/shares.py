"""What bounds a whole crawl, shared out to its partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from evercrawl.config.values import AUTO

if TYPE_CHECKING:
    from evercrawl.config import Config

SHARED: Final = frozenset({"rate_per_s", "rate_bytes_per_s", "connections", "memory_max_bytes", "keep_bytes"})
"""Settings of which each partition has a part."""


def part_config(config: Config, number: int, parts: int) -> Config:
    """Return the settings of one partition of a crawl, whose settings are `config`.

    What bounds the crawl is shared out evenly; archives are copied to a folder for each partition.

    Examples
    --------
    >>> from evercrawl.config import Config
    >>> one = part_config(Config(rate_per_s=10.0, connections=7, archive_to="s3://bucket/crawl/"), 3, 4)
    >>> one.rate_per_s, one.connections, one.archive_to
    (2.5, 1, 's3://bucket/crawl/part-3')
    """
    connections = config.connections // parts + (number < config.connections % parts)
    return replace(
        config,
        rate_per_s=config.rate_per_s / parts,
        rate_bytes_per_s=config.rate_bytes_per_s // parts,
        connections=max(connections, 1),
        memory_max_bytes=config.memory_max_bytes // parts,
        keep_bytes=config.keep_bytes // parts,
        workers="0" if config.workers == AUTO else config.workers,
        archive_to=f"{config.archive_to.rstrip('/')}/part-{number}" if config.archive_to else "",
    )
