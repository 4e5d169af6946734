"""A crawl directory opened for pages that somebody else fetches."""

from __future__ import annotations

import os
from pathlib import Path

from evercrawl import __version__
from evercrawl.clock import SystemClock
from evercrawl.config import FILE_NAME, Config, save
from evercrawl.crawl.driven.driven_crawl import DrivenCrawl
from evercrawl.crawl.ports import Offload
from evercrawl.crawl.timekeeping import go_on
from evercrawl.model.policy.followed import note
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.policy.schemes import wanted
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.store.disk.lock import lock_for_crawl
from evercrawl.store.disk.trouble import in_words
from evercrawl.store.partition import Partition


def open_driven(directory: Path, config: Config, kept: Config, offload: Offload) -> DrivenCrawl:
    """Open a crawl directory, or begin one, for pages that somebody else fetches.

    Parameters
    ----------
    directory
        Made where it does not exist.
    config, kept
        Settings of this run; and those that `crawl.toml` gets where there is none, for whoever goes on with it.
    offload
        Where slow work runs.

    Raises
    ------
    ConfigError
        There is no such policy, or the clock cannot be right.
    StoreError
        Another process has the directory, or the disk contradicts the journal.
    """
    policy = policy_of(config.policy, config.policy_options)
    lock = lock_for_crawl(directory)
    if not (directory / FILE_NAME).is_file():
        try:
            save(kept, directory)
        except OSError as error:
            raise in_words(error, "write", directory / FILE_NAME) from error
    clock = SystemClock()
    partition = Partition(
        directory,
        os.urandom,
        now=clock.now(),
        software=f"evercrawl/{__version__}",
        agent=config.user_agent,
        segment_bytes=config.segment_bytes,
        lock=lock,
        site=found_site,
        site_rules=site_rules(),
        scheme=wanted(config, alone=False),
        forgiving=True,
    )
    try:
        note(directory, partition.disk, config)
        go_on(clock, partition.state)
        return DrivenCrawl(partition, config, policy, clock, offload)
    except BaseException:
        partition.close()
        raise
