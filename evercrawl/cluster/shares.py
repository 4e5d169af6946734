"""Divides the limits of a whole crawl among its partitions."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

from evercrawl.config.sources import FILE_NAME, load
from evercrawl.config.values import AUTO
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.config import Config

SHARED: Final = frozenset({"rate_per_s", "rate_bytes_per_s", "connections", "memory_max_bytes", "keep_bytes"})
"""Settings that are divided among partitions."""


def part_config(config: Config, number: int, parts: int) -> Config:
    """Return the settings of one partition of a crawl with the settings `config`.

    Limits are divided evenly; each partition copies its archive to a folder of its own.

    Examples
    --------
    >>> from evercrawl.config import Config
    >>> one = part_config(Config(rate_per_s=10.0, connections=7, archive_to="s3://bucket/crawl/"), 3, 4)
    >>> one.rate_per_s, one.connections, one.archive_to
    (2.5, 1, 's3://bucket/crawl/part-3')
    >>> part_config(Config(rate_bytes_per_s=3), 0, 4).rate_bytes_per_s
    1
    """
    connections = config.connections // parts + (number < config.connections % parts)
    return replace(
        config,
        rate_per_s=config.rate_per_s / parts,
        rate_bytes_per_s=config.rate_bytes_per_s and max(config.rate_bytes_per_s // parts, 1),  # 0: no ceiling
        connections=max(connections, 1),
        memory_max_bytes=config.memory_max_bytes // parts,
        keep_bytes=config.keep_bytes // parts,
        workers="0" if config.workers == AUTO else config.workers,
        archive_to=f"{config.archive_to.rstrip('/')}/part-{number}" if config.archive_to else "",
    )


def written(directory: Path) -> Config | None:
    """Return the settings in a directory's crawl.toml, without flags; None if it cannot be read."""
    path = directory / FILE_NAME
    try:
        return load(path) if path.exists() else load()
    except ConfigError:
        return None


def with_changes(config: Config, before: Config | None, now: Config | None) -> Config:
    """Return the settings of a run with the changes from `before`, the file at its start, to `now`.

    Examples
    --------
    >>> from evercrawl.config import Config
    >>> run = Config(rate_per_s=100.0, max_depth=3)
    >>> now = with_changes(run, Config(rate_per_s=100.0), Config(rate_per_s=4.0))
    >>> now.rate_per_s, now.max_depth, with_changes(run, Config(), None) == run
    (4.0, 3, True)
    """
    if before is None or now is None:
        return config
    found = ((field.name, getattr(before, field.name), getattr(now, field.name)) for field in fields(config))
    return replace(config, **{name: value for name, was, value in found if was != value})
