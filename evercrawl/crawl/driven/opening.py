"""Opening a crawl directory whose pages another program fetches."""

from __future__ import annotations

import os
from pathlib import Path

from evercrawl import __version__
from evercrawl.clock import SystemClock
from evercrawl.config import FILE_NAME, Config, has_settings, save
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
    """Open or begin a crawl directory whose pages another program fetches.

    Parameters
    ----------
    directory
        The crawl directory; it is created if it does not exist.
    config, kept
        The settings of this run, and the settings written to a new `crawl.toml`, for later runs.
    offload
        Runs slow work in a thread.

    Raises
    ------
    ConfigError
        There is no such policy, or the clock is implausible.
    StoreError
        Another process uses the directory, or the files contradict the journal.
    """
    policy = policy_of(config.policy, config.policy_options)
    lock = lock_for_crawl(directory)
    if not has_settings(directory):
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
