"""One run of an import: it opens or creates a crawl directory, and imports what other programs gathered."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from evercrawl import __version__
from evercrawl.clock import SystemClock
from evercrawl.config import FILE_NAME, Config, has_settings, save
from evercrawl.crawl.equipment import open_index, parsers_of
from evercrawl.crawl.importing.captures import Source
from evercrawl.crawl.importing.importer import Importer, ImportTally
from evercrawl.crawl.importing.nowhere import Nowhere
from evercrawl.crawl.importing.planning import Plan
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.memory_use.collecting import sparing_survivors
from evercrawl.crawl.memory_use.heaps import share_areas
from evercrawl.crawl.parts import Parts
from evercrawl.crawl.ports import Outside
from evercrawl.crawl.session import scheme_at_first, settings_lost
from evercrawl.crawl.timekeeping import resume
from evercrawl.errors import ApplyError, ConfigError, StoreError
from evercrawl.fetch.guard import Guard
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.policy.schemes import scheme_of
from evercrawl.model.rules.scope import Scope
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.progress import Progress
from evercrawl.store.birth import is_crawl
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.modes import shut_to_others
from evercrawl.store.disk.plain import see_utf8
from evercrawl.store.disk.trouble import in_words
from evercrawl.store.partition import Partition
from evercrawl.store.quarantine import Quarantine

HISTORY_S: Final = 4 * 365.25 * 86_400.0
"""How far back a new crawl may begin. Records cover eight and a half years, and the crawl must be able to continue."""
MOST_FAULTS: Final = 100
_FIRST_BYTES: Final = 64 << 10  # of a journal that may know no URLs
PURPOSE: Final = "importing"


@dataclass(slots=True)
class Imported:
    """The result of an import.

    Attributes
    ----------
    captures, urls
        Number of captures with a date in the sources, and of URLs without one.
    first_at, last_at
        Instants of the first and last capture, in seconds since the epoch; nan if there is none.
    pages, histories, made_known
        Number of captures imported with content, of captures imported as visits without content, and of URLs without
        a date that became known.
    known
        Number of captures and URLs that the crawl knew already.
    outside
        Number of captures outside the crawl, by the setting that excludes them; `budget` for the bounds on unread
        pages.
    left_out
        Number of records of no use to a crawl, by reason.
    bad, troubles
        Number of records that cannot be read, and what is wrong with the first of them.
    whole
        False if the import was stopped before it was complete.
    elapsed_s
        Duration of the import, in seconds.
    """

    captures: int = 0
    urls: int = 0
    first_at: float = math.nan
    last_at: float = math.nan
    pages: int = 0
    histories: int = 0
    made_known: int = 0
    known: int = 0
    outside: dict[str, int] = field(default_factory=dict[str, int])
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    bad: int = 0
    troubles: list[str] = field(default_factory=list[str])
    whole: bool = True
    elapsed_s: float = 0.0


async def imported(
    directory: Path,
    config: Config,
    sources: list[Source],
    watch: Callable[[str, int, int], None] = lambda what, done, total: None,
    stop: asyncio.Event | None = None,
    *,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Imported:
    """Import `sources` into the crawl in `directory`, which is created if it does not exist.

    Parameters
    ----------
    directory, config
        The crawl directory, and the settings; they are written to `crawl.toml` if the crawl is new.
    sources
        The sources, imported together: the captures of all files are sorted by time.
    watch
        Called now and then with the current phase, how much of it is done, and the total.
    stop
        Ends the import when it is set; imported captures stay, and the same import resumes after them.
    dry_run
        Only read the sources, and report their content.
    tell
        Called with messages for the user.

    Raises
    ------
    ConfigError
        Nothing in the sources may belong to a crawl.
    StoreError
        A crawl is running in the directory, or the disk fails.
    """
    clock = SystemClock()
    began, new = clock.now(), not is_crawl(directory) or _unbegun(directory)

    def ends() -> bool:
        return stop is not None and stop.is_set()

    begins = Scope(replace(config, scope="any"), lambda _: 0)
    plan = Plan(sources, began, (lambda url: not begins.excluded_by(url, 0)) if new else None)
    read = await asyncio.to_thread(plan.read, lambda done, total: watch("reading", done, total), ends)
    tally = ImportTally()
    if read and not dry_run and len(plan):
        await _Run(directory, config, clock, sources, plan, tally, watch, ends, tell).take()
        read = not ends()
    return Imported(
        plan.dated, plan.urls, plan.first_at, plan.last_at, tally.pages, tally.histories, tally.made_known,
        tally.known, dict(tally.outside), dict(plan.left_out + tally.left_out), plan.bad, plan.troubles, read,
        clock.now() - began,
    )  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class _Run:
    """The parameters and progress of one import; see `imported`."""

    directory: Path
    config: Config
    clock: SystemClock
    sources: list[Source]
    plan: Plan
    tally: ImportTally
    watch: Callable[[str, int, int], None]
    ends: Callable[[], bool]
    tell: Callable[[str], None]

    async def take(self) -> None:
        """Import everything; open the crawl again if an event fails to apply."""
        new = not is_crawl(self.directory)
        if new and not self.plan.roots:
            raise ConfigError("the settings exclude everything in the files; see --include and --exclude")
        share_areas()
        _settle(self.directory, self.config)
        for _ in range(MOST_FAULTS):
            try:
                await self._once()
            except ApplyError as fault:
                self.tell(f"the crawl is opened again from its journal: {fault}")
            else:
                return
        raise StoreError("the import met too many errors of evercrawl itself; see the file quarantine.log")

    async def _once(self) -> None:
        roots = sorted(self.plan.roots.values())
        now = self.clock.now()
        begins_at = now
        if not is_crawl(self.directory) and self.plan.dated:
            begins_at = max(math.floor(self.plan.first_at) - 1.0, now - HISTORY_S)
        config = self.config
        partition = Partition(
            self.directory, os.urandom, now=begins_at, software=f"evercrawl/{__version__}", agent=config.user_agent,
            segment_bytes=config.segment_bytes, lock=Lock.take(self.directory, PURPOSE, now), site=found_site,
            site_rules=site_rules(), scheme=scheme_at_first(config, roots), forgiving=True,
        )  # fmt: skip
        with contextlib.closing(partition), sparing_survivors():
            if not has_settings(self.directory):
                if partition.state.known.count:
                    raise settings_lost(partition.state, self.directory)
                save(config, self.directory)
            for repair in partition.repairs:
                self.tell(repair)
            await self._within(partition, roots if not partition.state.known.count else [])

    async def _within(self, partition: Partition, roots: Sequence[str]) -> None:
        config, clock, plan = self.config, self.clock, self.plan
        network, threads = Nowhere(), ThreadPoolExecutor(1, "index")

        async def offload(function: Callable[..., Any], *arguments: Any) -> Any:
            return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)

        async def committing(function: Callable[..., Any], *arguments: Any) -> Any:
            return await asyncio.get_running_loop().run_in_executor(threads, function, *arguments)

        def say(progress: Progress) -> None:
            self.tell(progress.message)

        async with contextlib.AsyncExitStack() as stack:
            index = open_index(partition, clock, say) if config.index else None
            if index is not None:
                stack.callback(index.close)
            stack.callback(threads.shutdown)
            quarantine = Quarantine(partition.disk, self.tell)
            memory = Memory.beside(partition, config, partition.directory, index, quarantine)
            stack.callback(memory.close)
            outside = Outside(
                network, [], clock, offload, Guard(), committing,
                lambda text, hasher: parsers_of(config, network, hasher, text=text),
            )  # fmt: skip
            policy = policy_of(config.policy, config.policy_options)
            parts = Parts(config, memory, outside, policy, scheme_of(partition.scheme), lambda host, why: None)
            stack.callback(parts.parsers.close)
            resume(partition, parts.choosing.frontier, parts.scope, clock.now(), config.delay_s)
            partition.state.known.release()
            now = clock.now()
            if roots and parts.learner.seed(roots, min(plan.first_at, now) if plan.dated else now):
                await parts.storing.commit()
            importer = Importer(partition, parts, config, clock, quarantine, self.sources, plan, self.tally)
            try:
                await importer.run(lambda done, total: self.watch("importing", done, total), self.ends)
            except BaseException:
                await parts.storing.abandon()
                raise


def _unbegun(directory: Path) -> bool:
    """Whether a crawl may know no URLs, as after an import killed before its first event: it needs seeds then."""
    return sum(path.stat().st_size for path in directory.glob("journal-*.log")) < _FIRST_BYTES


def _settle(directory: Path, config: Config) -> None:
    """Create the directory of a new crawl and its settings file if they do not exist."""
    try:
        if not directory.is_dir():
            see_utf8(directory)
        shut_to_others()
        directory.mkdir(parents=True, exist_ok=True)
        if not has_settings(directory) and not is_crawl(directory):
            save(config, directory)
    except OSError as error:
        raise in_words(error, "write", directory / FILE_NAME) from error
