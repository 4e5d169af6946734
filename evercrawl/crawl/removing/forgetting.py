"""Forgets pages and hosts for good: works out what to overwrite, stores it as a plan, then carries the plan out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from evercrawl import __version__
from evercrawl.clock import SystemClock
from evercrawl.config import FILE_NAME
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.crawl.mending.repairing import settled
from evercrawl.crawl.removing.forget_targets import ForgetTargets, targets
from evercrawl.crawl.removing.forget_work import ForgetWork, Watch
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.search.index import FOLDER as SEARCH_FOLDER
from evercrawl.store import forgetting
from evercrawl.store.birth import is_crawl
from evercrawl.store.disk.lock import Lock
from evercrawl.store.forgotten import Forgotten, ForgottenHost
from evercrawl.store.keeper.folder import distrust, is_copy, noted_place
from evercrawl.store.objects.pushing import pushed_to
from evercrawl.store.partition import Partition
from evercrawl.store.repair.kept import FOLDER as DAMAGED_FOLDER
from evercrawl.store.scheme import NETWORK

PURPOSE: Final = "evercrawl forget"


class Forgot(NamedTuple):
    """The result of a forgetting.

    Attributes
    ----------
    pages, hosts, records, archive_bytes
        The number of pages and hosts, and of records and bytes of the archive.
    beyond
        A sentence for each place that may still hold what was forgotten.
    """

    pages: int
    hosts: int
    records: int
    archive_bytes: int
    beyond: tuple[str, ...]


def looked_up(directory: Path, wanted: Sequence[str]) -> ForgetTargets:
    """Return what some words mean in a crawl directory; nothing is changed."""
    partition = opened(directory)
    try:
        return targets(partition, wanted)
    finally:
        partition.close()


def finish(directory: Path) -> bool:
    """Carry out an unfinished plan and rebuild derived files; return whether there was a plan.

    Raises
    ------
    ConfigError
        There is no crawl in the directory.
    StoreError
        A crawl runs there, or the disk fails.
    """
    if not is_crawl(directory):
        raise ConfigError(f"there is no crawl in {directory}; name its directory with --dir")
    begun = forgetting.begun(directory)
    if begun:
        opened_to_forget(directory).close()
        _made_again(directory, search=True)
    return begun


def forget(
    directory: Path, wanted: Sequence[str], watch: Watch = lambda what, done, total: None, *, order: str = ""
) -> Forgot:
    """Forget pages and hosts of the crawl in `directory`, in which no crawl may run.

    Parameters
    ----------
    directory
        The crawl directory.
    wanted
        URLs, hosts and expressions; see `targets`.
    watch
        Called now and then with the present step, how much of it is done, and of how much.
    order
        The id of the order that asks for it, whose own words are masked too; "" if there is none. With an order, the
        search index is not rebuilt here: the crawl fills it while it runs.

    Raises
    ------
    ConfigError
        There is no crawl in the directory, or a word means nothing.
    StoreError
        A crawl runs there, it is damaged, or the disk fails. Once anything was overwritten, the next call or start
        completes it.
    """
    if not is_crawl(directory):
        raise ConfigError(f"there is no crawl in {directory}; name its directory with --dir")
    partition = opened_to_forget(directory)
    try:
        searchable = (directory / SEARCH_FOLDER).is_dir() and not order
        meant = targets(partition, wanted)
        table = _table(partition, meant)
        work = ForgetWork(partition, table, meant, watch, order)
        plan = work.plan()
        result = Forgot(
            len(meant.slots), len(meant.hosts), len(plan.blanks), sum(each.size for each in plan.blanks),
            (*_beyond(directory, work), *_second_copy(partition)),
        )  # fmt: skip
        watch("overwriting", 0, 1)
        forgetting.write_plan(partition.disk, plan)
        forgetting.carry_out(directory, partition.disk)
    finally:
        partition.close()
    if not order:  # a crawl that resumes rebuilds it by itself
        _made_again(directory, search=searchable, watch=watch)
    return result


def opened_to_forget(directory: Path) -> Partition:
    """Open a crawl directory for changes, under its lock."""
    now = SystemClock().now()
    partition = Partition(
        directory, os.urandom, now=now, software=f"evercrawl/{__version__}", site=found_site,
        site_rules=site_rules(), lock=Lock.take(directory, PURPOSE, now), forgiving=True,
    )  # fmt: skip
    if not partition.hasher.secret:
        partition.close()
        what = f"the crawl in {directory} was started without a secret, so it cannot keep a private hash of it"
        raise StoreError(f"{what}; begin a new crawl and remove this one instead")
    return partition


def _made_again(directory: Path, *, search: bool, watch: Watch = lambda what, done, total: None) -> None:
    watch("snapshot", 0, 1)
    settled(directory)
    if search:
        reindex(directory, watch)


def _table(partition: Partition, meant: ForgetTargets) -> Forgotten:
    """Return the table of everything forgotten, old and new."""
    state, before = partition.state, partition.state.forgotten
    digests = {number: host.digest for number, host in before.hosts.items()}
    for name in meant.hosts:
        number = state.hosts.find(name)
        digest = state.hasher.short(name.encode())
        if number is None and digest not in digests.values():
            number = min(digests, default=0) - 1 if min(digests, default=0) < 0 else -1
        if number is not None:
            digests[number] = digest
    sites = state.site_of[: len(state.hosts)]
    hosts = dict[int, ForgottenHost]()
    for number, digest in digests.items():
        if number < 0:
            hosts[number] = ForgottenHost(digest, "")
            continue
        site = int(sites[number])
        kept = [each for each in np.flatnonzero(sites == site).tolist() if each not in digests]
        name, scheme = state.sites[site], partition.scheme
        if not kept and name in (*scheme.trusted, *scheme.distrusted):
            what = f"the settings list {name} as a trusted or distrusted site"
            raise ConfigError(f"{what}; take it out of {FILE_NAME}, start the crawl once, and forget it then")
        nobody = f"s{site}.forgotten.invalid{NETWORK if NETWORK in name else ''}"
        hosts[number] = ForgottenHost(digest, name if kept else nobody)
    return Forgotten(
        np.concatenate((before.slots, meant.slots)),
        np.concatenate((before.keys, meant.keys)),
        hosts,
        dict(before.frames),
    )


def _second_copy(partition: Partition) -> Iterator[str]:
    """Mark a second copy as not to be opened until it has caught up; yield a sentence about it."""
    noted = noted_place(partition.disk)
    place = Path(noted)
    if not noted:
        return
    if not place.is_absolute():  # on another machine
        yield (
            f"the second copy at {noted} holds it until the crawl has run again; until then it is not opened, if this "
            "was asked of the whole crawl, with --dir of all partitions"
        )
        return
    try:
        there = is_copy(place, partition.birth)
        if there:
            distrust(place)
    except (OSError, StoreError) as error:
        yield f"the second copy in {place} holds it and cannot be marked ({error}): remove it, or crawl with it again"
        return
    if there:
        yield f"the second copy in {place} holds it until the crawl has run again with it; until then it is not opened"
    else:
        yield f"the second copy in {place} holds it, but cannot be found: remove it, or crawl with it again"


def _beyond(directory: Path, work: ForgetWork) -> Iterator[str]:
    """Yield a sentence for each place that may still hold what was forgotten."""
    yield "archived pages that stay and link to it still have its address in their links"
    settings = directory / FILE_NAME
    if settings.is_file() and work.masked(settings.read_bytes()) is not None:
        yield f"{settings} names it: edit the file"
    if (directory / DAMAGED_FOLDER).is_dir():
        yield f"{directory / DAMAGED_FOLDER} holds what repairs removed: check it, or remove it"
    for url in pushed_to(directory):
        yield f"the archive's copy in {url} holds it until `evercrawl export archive -o {url}` has run again"
    yield "exports, backups, other copies in object storage and webhooks that were delivered: remove it there yourself"
