"""One run of a crawl in the real world: clock, network, names, disk and threads, assembled from a configuration."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from evercrawl import __version__
from evercrawl.arrays.hasher import Hasher
from evercrawl.clock import Clock, SystemClock, since_boot
from evercrawl.config import FILE_NAME, Config, amend, has_settings, save
from evercrawl.config.patterns import unbounded
from evercrawl.config.secrets import OPEN_SETTINGS, close_to_others
from evercrawl.config.written import amend_by
from evercrawl.crawl import switching
from evercrawl.crawl.adjusting import keep_adjusted
from evercrawl.crawl.assemble import assemble, only_named
from evercrawl.crawl.equipment import Reached, open_index, parsers_of, reach_web
from evercrawl.crawl.learn.virtual_turns import VirtualTurns
from evercrawl.crawl.loop import Crawl
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.memory_use.collecting import sparing_survivors
from evercrawl.crawl.memory_use.heaps import keep_giving_back, share_areas
from evercrawl.crawl.memory_use.measuring import MemoryMeasuring
from evercrawl.crawl.memory_use.memory_room import MemoryRoom, container_limit_bytes, resident_bytes
from evercrawl.crawl.memory_use.shelving import Shelving
from evercrawl.crawl.orders.answering import AnsweringProcess
from evercrawl.crawl.orders.forgets import obey_forgets
from evercrawl.crawl.orders.live import LiveLine
from evercrawl.crawl.ports import Gate, Network, Outside
from evercrawl.crawl.posting.membership import Membership, see_member, see_undivided
from evercrawl.crawl.removing.between_runs import KEEP, in_thread, remove_versions, stop_to_remove
from evercrawl.crawl.removing.keeping import due
from evercrawl.crawl.sessions.assembling import Sessions
from evercrawl.crawl.timekeeping import go_on
from evercrawl.crawl.visit.parsers import Parsers
from evercrawl.errors import ApplyError, ConfigError, StoreError
from evercrawl.fetch.guard import Guard, is_own
from evercrawl.fetch.names import DnsResolver, StaticResolver, read_resolve_file
from evercrawl.model.policy.followed import note
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.policy.schemes import LASTING, wanted
from evercrawl.model.rules.scope import lifted_rules
from evercrawl.model.stored.remembered import VisitListener
from evercrawl.parse.sites import found_site, site, site_rules
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits, Progress, Summary
from evercrawl.store.birth import FORMAT, is_crawl
from evercrawl.store.disk.lock import Lock, lock_for_crawl
from evercrawl.store.disk.trouble import in_words
from evercrawl.store.orders import FORGET, OrderFile, unread_in_words
from evercrawl.store.partition import Partition
from evercrawl.store.quarantine import Quarantine
from evercrawl.store.scheme import Scheme
from evercrawl.store.signals import SignalFile
from evercrawl.store.state import HELD, State

_OLDER: Final = (
    "the crawl continues in the format of an earlier version, whose hashes others can compute; to convert it, stop the "
    "crawl and run: evercrawl upgrade {directory}"
)
_NOBODY_TRUSTED: Final = (
    "none of the trusted sites is known yet, so nothing is a source of importance: name one as a seed, or trust others"
)
MOST_FRUITLESS: Final = 100
"""The highest number of times in a row that a crawl is reopened after a fault of its own without a visit in between."""


async def crawl(
    directory: Path,
    config: Config,
    seeds: Sequence[str],
    limits: Limits,
    watch: Callable[[Progress], None] = lambda _: None,
    stop: asyncio.Event | None = None,
    lock: Lock | None = None,
    only: Sequence[str] = (),
    reach: Callable[[Clock], Reached] | None = None,
    heard: VisitListener | None = None,
    before_commit: Callable[[], None] | None = None,
    gate: Gate | None = None,
    member: Membership | None = None,
) -> Summary:
    """Start a crawl in `directory`, or resume the one that is there.

    Parameters
    ----------
    directory
        The crawl directory; it is created if it does not exist.
    config
        Settings; written to `crawl.toml` when the crawl is new.
    seeds
        Normalised URLs to start from; a crawl that resumes needs none.
    limits
        What ends the run.
    watch
        Called with the progress twice a second and at the end.
    stop
        Ends the run cleanly when it is set.
    lock
        The lock of the directory, if the caller has already taken it.
    only
        Known pages to visit now, whatever their value, instead of all that wait; sitemaps are not fetched, and the
        learned price does not change.
    reach
        Makes the network and resolvers that stand for the web; by default they reach the real one.
    heard
        Called with each remembered visit; it must not raise.
    before_commit
        Called in a thread before each commit, for what must be on the disk before the journal is.
    gate
        Pauses the crawl while the consumer of its visits is behind.
    member
        The partition that the directory is; None for a crawl without partitions.

    Raises
    ------
    ConfigError
        A new crawl has no seeds.
    StoreError
        Another process uses the directory, or the disk contradicts the journal.
    NoRoomError
        The disk was full for longer than `disk_wait_s`.
    """
    share_areas()
    new = not is_crawl(directory)
    if new and not seeds and member is None:
        raise ConfigError(f"there is no crawl in {directory}; name a seed: evercrawl crawl URL --dir {directory}")
    if member is None and not only:
        see_undivided(config)
    scheme = scheme_at_first(config, seeds)
    lock = lock or lock_for_crawl(directory)
    unsaved = not has_settings(directory)
    if new:  # before this becomes a crawl, which would resume without its settings
        _save(config, directory)
    clock = SystemClock()
    lost = list[str]()
    with contextlib.suppress(OSError):
        if close_to_others(directory / FILE_NAME, config.proxy):
            lost.append(OPEN_SETTINGS.format(directory / FILE_NAME))

    async def once(left: Limits, lock: Lock, lost: Sequence[str]) -> Summary:
        partition = Partition(
            directory, os.urandom, now=clock.now(), software=f"evercrawl/{__version__}",
            agent=config.user_agent, segment_bytes=config.segment_bytes, lock=lock, site=found_site,
            site_rules=site_rules(), scheme=scheme, forgiving=True,
            share=member.share if member is not None else None, secret=member.secret if member is not None else None,
        )  # fmt: skip
        with contextlib.closing(partition), sparing_survivors():
            see_member(partition, member, only=bool(only))
            if unsaved and not new:
                if member is None and partition.state.known.count:
                    raise settings_lost(partition.state, directory)
                _save(config, directory)
            lifted = [*_lifted(partition.state, config), *_unread(directory, partition.state)] if not only else []
            unseeded = not seeds and not partition.state.known.count  # it was killed before the first was stored
            if unseeded and member is None:
                raise ConfigError(
                    f"the crawl in {directory} knows no URL; name a seed: evercrawl crawl URL --dir {directory}"
                )
            follows = [] if only else [note(directory, partition.disk, config)]
            behind = go_on(clock, partition.state)
            for repair in [*follows, *lost, *lifted, *partition.repairs, *([behind] if behind else [])]:
                watch(Progress(at=clock.now(), known=partition.state.known.count, message=repair))
            return await _run(
                partition,
                config,
                clock,
                seeds,
                left,
                watch,
                stop,
                only,
                reach,
                heard,
                before_commit,
                gate,
                member,
                tuned,
            )

    def tuned(now: Config) -> None:
        nonlocal config
        config = now

    def tell(sentence: str) -> None:
        watch(Progress(at=clock.now(), message=sentence))

    begun_s, visits, fruitless = since_boot(), 0, 0  # the crawl's time may jump ahead, to that of its last event
    if not only and not new and due(directory, config, clock.now()):
        lock.release()
        await in_thread(remove_versions, directory, config, tell)
        lock = lock_for_crawl(directory)
    while True:
        left = _left(limits, visits, since_boot() - begun_s)
        try:
            summary = await once(left, lock, lost)
        except ApplyError as fault:
            visits, fruitless = visits + fault.visits, 0 if fault.visits else fruitless + 1
            if fruitless >= MOST_FRUITLESS:
                raise
            again = f"the crawl is opened again from its journal: {fault}"
            watch(Progress(at=clock.now(), message=again, alert="set_aside"))
            lock, lost = lock_for_crawl(directory), []
        else:
            if summary.reason in (FORGET, KEEP) and not (stop is not None and stop.is_set()):
                visits += summary.visits
                if summary.reason == FORGET:
                    await in_thread(obey_forgets, directory, tell)
                if summary.reason == KEEP or due(directory, config, clock.now()):
                    await in_thread(remove_versions, directory, config, tell)
                lock, lost = lock_for_crawl(directory), []
                continue
            return replace(summary, visits=summary.visits + visits, elapsed_s=since_boot() - begun_s)


def _left(limits: Limits, visits: int, elapsed_s: float) -> Limits:
    """Return what is left of a run's limits after this many visits and seconds."""
    pages = None if limits.pages is None else max(limits.pages - visits, 0)
    seconds = None if limits.seconds is None else max(limits.seconds - elapsed_s, 0.0)
    return replace(limits, pages=pages, seconds=seconds)


async def _run(
    partition: Partition,
    config: Config,
    clock: Clock,
    seeds: Sequence[str],
    limits: Limits,
    watch: Callable[[Progress], None],
    stop: asyncio.Event | None,
    only: Sequence[str],
    reach: Callable[[Clock], Reached] | None,
    heard: VisitListener | None,
    before_commit: Callable[[], None] | None,
    gate: Gate | None,
    member: Membership | None,
    tuned: Callable[[Config], None],
) -> Summary:
    """Crawl until something ends the run; `tuned` is called with the final settings, which orders may have changed."""
    guard = Guard(config.allow_net, config.refuse_net, is_own)
    if only:
        config = only_named(config)
        if partition.state.steered.paused_at:
            raise StoreError("the crawl is paused, so nothing is requested; continue with: evercrawl resume")
    policy = policy_of(config.policy, config.policy_options)
    if not only or partition.unswitched:
        began = clock.now()
        if not await _switched(partition, config, clock, watch, stop):
            state = partition.state
            fetched = sum(state.outcomes[outcome] for outcome in HELD)
            return Summary(0, fetched, state.known.count, clock.now() - began, "stopped")
    if partition.scheme.trusted and not _met(partition, seeds) & set(partition.scheme.trusted):
        watch(Progress(at=clock.now(), known=partition.state.known.count, message=_NOBODY_TRUSTED))
    if partition.birth.format < FORMAT:
        message = _OLDER.format(directory=partition.directory)
        watch(Progress(at=clock.now(), known=partition.state.known.count, message=message))
    if slow := unbounded(config):
        watch(Progress(at=clock.now(), known=partition.state.known.count, message=slow))
    sessions = Sessions(config)
    here = partition.directory
    network, names = reach(clock) if reach is not None else reach_web(here, config, clock, guard, sessions)

    def say(sentence: str) -> None:
        watch(Progress(at=clock.now(), known=partition.state.known.count, message=sentence))

    network = sessions.before(network, config, clock, partition.disk, say)
    threads = ThreadPoolExecutor(1, "index")

    async def committing(function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(threads, function, *arguments)

    def say_aside(sentence: str) -> None:
        watch(Progress(at=clock.now(), message=sentence, alert="set_aside"))

    def readers(text: bool, hasher: Hasher) -> Parsers:
        return parsers_of(config, network, hasher, text=text)

    async with contextlib.AsyncExitStack() as stack:
        index = open_index(partition, clock, watch) if config.index else None
        if index is not None:
            stack.callback(index.close)
        stack.callback(threads.shutdown)
        quarantine = Quarantine(partition.disk, say_aside)
        memory = Memory.beside(partition, config, partition.directory, index, quarantine)
        stack.callback(memory.close)
        for server in names:
            if isinstance(server, DnsResolver):
                stack.callback(server.close)
        room = MemoryRoom(config.memory_max_bytes or container_limit_bytes(), resident_bytes)
        listed = StaticResolver(read_resolve_file(Path(config.resolve))) if config.resolve else None
        orders = OrderFile(partition.directory) if not only else None  # a run for single pages takes no orders
        signals = SignalFile(partition.directory) if not only else None
        amend = partial(amend_by, partition.directory)
        outside = Outside(
            network,
            names,
            clock,
            in_thread,
            guard,
            committing,
            readers,
            listed,
            heard,
            room,
            orders,
            amend,
            signals,
            forgets=not only,
            before_commit=before_commit,
            gate=gate,
            post=member.carrier if member is not None else None,
            keeper=member.keeper if member is not None else None,
            sessions=sessions,
        )
        one = assemble(config, memory, outside, watch, policy=policy)
        stack.callback(one.close)
        stack.push_async_callback(network.close)
        beside = [asyncio.ensure_future(_stop_when(stop, one, network))] if stop is not None else []
        beside.append(asyncio.ensure_future(keep_adjusted(partition, config, policy, clock, watch, one.tuning)))
        if not only:
            beside.append(asyncio.ensure_future(stop_to_remove(one, network, partition.directory, clock)))
        shelving = Shelving(one, partition.directory)
        stack.callback(shelving.shelf.close)
        beside.append(asyncio.ensure_future(shelving.keep()))
        beside.append(asyncio.ensure_future(keep_giving_back()))
        measuring = MemoryMeasuring(one, clock, shelving.shelf)
        beside.append(asyncio.ensure_future(measuring.keep()))
        if not only:
            answering = AnsweringProcess(
                partition.directory, lambda: partition.state.known.count, room.limit_bytes, resident_bytes
            )
            stack.callback(answering.close)
            live = LiveLine(one, network.wake, answering)
            stack.push_async_callback(live.close)
            partition.tell(await live.open(partition.directory))
        try:
            return await one.run(seeds, limits, only)
        finally:
            if not only:
                tuned(one.tuning.config)
            for task in beside:
                task.cancel()
            await measuring.finish()


def _met(partition: Partition, seeds: Sequence[str]) -> set[str]:
    """Return the sites that the crawl knows, including those of its seeds."""
    return {*partition.state.sites, *(site(hostname(url)) for url in seeds)}


async def _switched(
    partition: Partition,
    config: Config,
    clock: Clock,
    watch: Callable[[Progress], None],
    stop: asyncio.Event | None,
) -> bool:
    """Switch the crawl to the scheme of importance in the settings, and write lasting settings to its file.

    Return False if the run was asked to end before this was done.
    """
    goal = switching.goal_of(partition, config, clock.now())
    try:  # even if nothing is due now: it may be once the crawl has another scheme, or farms
        amend(partition.directory, {name: getattr(config, name) for name in LASTING})
    except OSError as error:
        raise in_words(error, "write", partition.directory / FILE_NAME) from error
    if not switching.due(partition, goal):
        return True

    def say(sentence: str) -> None:
        watch(Progress(at=clock.now(), known=partition.state.known.count, message=sentence))

    turns = VirtualTurns(partition, config.discovery, config.focus)

    def ends() -> bool:
        return stop is not None and stop.is_set()

    return await switching.switch(partition, goal, clock, in_thread, say, ends, turns)


def _save(config: Config, directory: Path) -> None:
    try:
        save(config, directory)
    except OSError as error:
        raise in_words(error, "write", directory / FILE_NAME) from error


def settings_lost(state: State, directory: Path) -> ConfigError:
    """Return the error for a crawl whose settings are lost: without its rules it would request what was excluded."""
    rules = "".join(f"\n  {rule}" for rule in state.steered.bounds)
    return ConfigError(
        f"{directory / FILE_NAME} is missing or empty, and with it the settings and rules of the crawl"
        f"{', such as' if rules else ''}{rules}\ncopy it back from a backup, or write a new one with the settings and "
        "rules that should apply (a comment, if none)"
    )


def _lifted(state: State, config: Config) -> list[str]:
    """Return a message about rules of the last run that no longer apply: the settings file may have been cut short."""
    lifted = lifted_rules(state.steered.bounds, config)
    return [f"these rules of the last run do not apply to this one: {'; '.join(lifted)}"] if lifted else []


def _unread(directory: Path, state: State) -> list[str]:
    """Return a message about lines of the orders file that cannot be read, because they may be damaged orders."""
    source, steered = OrderFile(directory), state.steered
    unread = unread_in_words(source, steered.upto, steered.last) if not source.distrusted() else ""
    return [unread] if unread else []


def scheme_at_first(config: Config, seeds: Sequence[str]) -> Scheme:
    """Return the scheme of a new crawl: links within a site weigh less, unless there is only one site."""
    alone = config.scope != "any" and len({site(hostname(url)) for url in seeds}) == 1
    return wanted(config, alone=alone)


async def _stop_when(stop: asyncio.Event, one: Crawl, network: Network) -> None:
    await stop.wait()
    one.stop()
    network.wake()
