"""Partitioned crawls on the command line."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from evercrawl.cli import arguments, running, where
from evercrawl.cli.show import live
from evercrawl.config import FILE_NAME, Config, has_settings, values
from evercrawl.errors import ConfigError
from evercrawl.progress import Limits, Progress

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable

    from evercrawl.cli.show.lines import Watcher
    from evercrawl.cluster.birth import ClusterBirth
    from evercrawl.cluster.visit_reports import VisitLog
    from evercrawl.progress import Summary

_SETTINGS_LOST: Final = (
    "{} is missing or empty, and with it the rules and limits of the crawl; copy it back from a backup, or write a new "
    "one with the settings and rules that should apply (only a comment for none)"
)


def asked(args: argparse.Namespace, directory: Path, config: Config, seeded: bool) -> int | None:
    """Return how many partitions the crawl in a directory has, or is to have; None for one that has no partitions.

    Raises
    ------
    ConfigError
        It cannot have so many, or not with these settings; nothing was written.
    """
    if args.partitions is None and not (directory / where.PARTED).is_file():
        if args.cluster is not None:
            raise ConfigError("--cluster divides a crawl among machines; also give --partitions P, a power of two")
        from evercrawl.crawl.posting.membership import see_undivided

        see_undivided(config)
        return None
    from evercrawl.cluster.birth import check_settings, is_cluster, read_birth

    parts = None
    if args.partitions is not None:
        parts = cast("int", arguments.value(values.whole(1), args.partitions, "--partitions"))
    check_settings(config, directory, parts, machines=args.cluster is not None)
    if args.cluster is not None:
        if config.durable == "keeper" and config.keeper_dir:
            raise ConfigError("with --cluster each second copy is on the disk of another machine; leave keeper_dir out")
        from evercrawl.cluster.on_ray import check_ray

        check_ray()
    if is_cluster(directory):
        there = read_birth(directory)
        if there.places and args.cluster is None:
            raise ConfigError(f"the partitions of {directory} are on machines of a Ray cluster; give --cluster ADDRESS")
        _see_homes(directory, there, config, named=args.set_keeper_dir is not None)
        return there.parts
    if not seeded:
        raise ConfigError(f"there is no crawl in {directory}; name a seed: evercrawl crawl URL --dir {directory}")
    return parts


def _see_homes(directory: Path, birth: ClusterBirth, config: Config, *, named: bool) -> None:
    """See that partitions that were moved are where they are said to be, before anything is written.

    One that is gone is opened from its second copy only if the command names the folder of the copies: a directory
    that comes from a stranger may say that a partition was anywhere.
    """
    from evercrawl.cluster.birth import part_directories
    from evercrawl.store.keeper.restoring import is_gone

    parts = part_directories(directory)
    gone = [parts[number] for number in sorted(birth.homes) if is_gone(parts[number])]
    if gone and config.durable == "keeper" and not named:
        raise ConfigError(
            f"{gone[0]} has no partition, though one was moved there; is its disk mounted? If it is lost, have it "
            f"restored there from its second copy: --keeper-dir {config.keeper_dir}"
        )


def without_deliveries(config: Config) -> Config:
    """Return settings for which nothing runs beside the crawl: the process of each partition copies its archive."""
    return replace(config, archive_to="")


def crawl(
    directory: Path,
    parts: int,
    config: Config,
    urls: Sequence[str],
    limits: Limits,
    watch: Watcher,
    notes: Sequence[str],
    cluster: str | None = None,
    outlet: live.Outlet | None = None,
    log: VisitLog | None = None,
) -> int:
    """Run all partitions, obeying signals, and let `watch` have the last word; `cluster` is the address of a Ray.

    Visits are written to `log`.

    Return 1 if the run ended because `outlet` is closed.
    """
    from evercrawl.store.disk.lock import lock_for_crawl
    from evercrawl.store.disk.plain import see_utf8

    with contextlib.ExitStack() as stack:
        ray = None
        if cluster is not None:  # before anything is written
            from evercrawl.cluster.on_ray import connected

            ray = stack.enter_context(connected(cluster))
        if not directory.is_dir():
            see_utf8(directory)
        directory.mkdir(parents=True, exist_ok=True)
        stack.enter_context(lock_for_crawl(directory))  # another crawl of it hears at once
        from evercrawl.cluster.birth import born, is_cluster
        from evercrawl.cluster.coordinator import crawl_parted
        from evercrawl.config import save
        from evercrawl.config.secrets import OPEN_SETTINGS, close_to_others

        if not has_settings(directory):  # first: a crawl resumes only with its settings
            if is_cluster(directory):
                raise ConfigError(_SETTINGS_LOST.format(directory / FILE_NAME))
            save(config, directory)
        birth = born(directory, parts)
        with contextlib.suppress(OSError):
            if close_to_others(directory / FILE_NAME, config.proxy):
                notes = [*notes, OPEN_SETTINGS.format(directory / FILE_NAME)]
        from evercrawl.cluster.copies.folder_copies import on_one_device

        for note in (*notes, on_one_device(config, directory) if cluster is None else ""):
            if not note:
                continue
            watch(Progress(at=time.time(), message=note))
        launcher = copies = moves = None
        if ray is not None:
            from evercrawl.cluster.copies.node_copies import NodeCopies
            from evercrawl.cluster.hauling.node_moves import NodeMoves
            from evercrawl.cluster.on_ray import RayLauncher

            launcher = RayLauncher(ray, directory, birth)
            birth = launcher.settle()

            def tell(said: str) -> None:
                watch(Progress(at=time.time(), message=said))

            copies = NodeCopies(directory, birth, launcher, tell)
            moves = NodeMoves(
                directory, birth, launcher, tell, kept=config.durable == "keeper", lost_after_s=config.lost_after_s,
                rebalance=config.rebalance,
            )  # fmt: skip

        def work(stop: asyncio.Event) -> Awaitable[Summary]:
            told = live.heard(watch, stop, outlet)
            return crawl_parted(directory, birth, config, urls, limits, told, stop, launcher, copies, moves, log)

        summary = running.until_stopped(work)
    if outlet is not None and outlet.ended_run:
        watch.finish(summary and replace(summary, reason=live.OUTPUT_CLOSED))
        live.say_closed()
        return 1
    watch.finish(summary)
    return 0
