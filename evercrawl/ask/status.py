"""Status of a crawl: counts, freshness, the process that runs it, and repairs due at its next start."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evercrawl import __version__
from evercrawl.ask import targets as targeting
from evercrawl.ask.measured import MeasuredCopies, measured
from evercrawl.change.probed import ProbedMeasure
from evercrawl.clock import SystemClock
from evercrawl.fetch.proxies import ProxyHealth
from evercrawl.model.policy.followed import sentence, stored
from evercrawl.model.policy.schemes import unswitched
from evercrawl.model.proxy_file import stored_proxies
from evercrawl.model.rules.budgets import REFUSED
from evercrawl.model.rules.robots_file import ROBOTS_FILE, unreachable
from evercrawl.model.rules.waits import silent_until
from evercrawl.model.stored.reader import Tell, opened
from evercrawl.model.view import View, settings
from evercrawl.schedule.formulas.expected_age import expected_age_s
from evercrawl.store.archive import warc
from evercrawl.store.birth import FORMAT
from evercrawl.store.disk.disk import Disk
from evercrawl.store.disk.lock import holder
from evercrawl.store.journal import segment
from evercrawl.store.partition import Partition
from evercrawl.store.quarantine import set_aside
from evercrawl.store.records.records import NEAR
from evercrawl.store.requisites.book import RequisiteCounts, read_book
from evercrawl.store.snapshots import head as snapshot_head
from evercrawl.store.snapshots import snapshot
from evercrawl.store.state import HELD
from evercrawl.store.table.table import NO_RECORD
from evercrawl.store.visit_fold import CUT_LINKS, OPTOUTS
from evercrawl.types import Outcome


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a crawl directory at one instant.

    Attributes
    ----------
    at, made_at
        The current time, and when the crawl was started; seconds since the epoch.
    directory
        The crawl directory.
    holder
        The crawling process: pid, host, since (seconds since the epoch), purpose; empty if it did not record them,
        None if no crawl runs.
    known, fetched, never_fetched
        URLs ever seen; pages whose content is held; URLs without any visit.
    fresh, fresh_by_importance
        Probability that a copy is up to date: mean over the copies, and mean weighted by importance; None if no copy
        is held.
    age_s, age_by_importance_s
        Expected age of the copies, which is 0 while they are fresh: the same means.
    importance_clock, importance_factor, importance_error
        Terms of the bound on the error of importance: see `model.error_bound.ErrorBound`.
    targets
        The freshness targets of crawl.toml, in order, and how far each is met.
    measured, measured_by_importance
        Freshness and age measured by recent random probes, of copies drawn uniformly and by importance; None before
        the first probe is resolved.
    probes_waiting, probes_unanswered
        Pages drawn for a probe and not visited yet; recent probes whose visit gave no result.
    visits, changes
        Visits ever made; visits that brought new content of a known page.
    classes
        Class of the last visit -> number of pages.
    near_duplicates, soft_404
        Fetched pages that nearly duplicate an earlier one; pages counted as gone although the server reported success.
    refused_links
        Setting -> links refused in all runs because its budget was exhausted, as of the last snapshot.
    cut_links
        Links left out of pages with too many, counted again for each content read.
    optouts
        Opt-out from model training or input -> number of contents read that declare it; see `OptOut`.
    received_bytes
        Total size of bodies, as on the wire.
    requisites
        Counts of page requisites that are known, archived, owed and failed; None if they are not fetched.
    hosts
        Number of host names seen.
    away
        Host -> instant until which it is not requested, if that is in the future.
    silent
        Host -> instant until which it is not requested because it was silent while too many servers were waited for, if
        that is in the future; as of the last snapshot, for some hundred hosts.
    robots_unreachable
        Origin -> why the last request for its robots.txt failed, so that its pages wait.
    proxies
        State of the proxies, as last reported by the crawl; empty before one has failed.
    set_aside
        URL -> error, for URLs that are not requested because evercrawl's own code failed on them twice.
    skipped_events
        Number of a journal event -> error, for events that are skipped because evercrawl's own code failed on them
        when the journal was replayed.
    archive_segments, archive_bytes, journal_bytes
        Number of archive segments, and sizes on disk.
    snapshot_at
        Instant of the last snapshot; None if there is none.
    versions
        Versions of evercrawl and of the on-disk formats.
    policy, policy_options
        Policy of the current or the last run, and its options.
    follows
        The same in words, with what crawl.toml says if it differs.
    repairs
        Repairs that the next start would make, a sentence each; empty while a crawl runs.
    """

    at: float
    made_at: float
    directory: str
    holder: dict[str, Any] | None
    known: int
    fetched: int
    never_fetched: int
    fresh: float | None
    fresh_by_importance: float | None
    age_s: float | None
    age_by_importance_s: float | None
    importance_clock: float
    importance_factor: float | None
    importance_error: float | None
    targets: tuple[targeting.TargetFreshness, ...]
    measured: ProbedMeasure | None
    measured_by_importance: ProbedMeasure | None
    probes_waiting: int
    probes_unanswered: int
    visits: int
    changes: int
    classes: dict[str, int]
    near_duplicates: int
    soft_404: int
    refused_links: dict[str, int]
    cut_links: int
    optouts: dict[str, int]
    received_bytes: int
    requisites: RequisiteCounts | None
    hosts: int
    away: dict[str, float]
    silent: dict[str, float]
    robots_unreachable: dict[str, str]
    proxies: tuple[ProxyHealth, ...]
    set_aside: dict[str, str]
    skipped_events: dict[int, str]
    archive_segments: int
    archive_bytes: int
    journal_bytes: int
    snapshot_at: float | None
    versions: dict[str, str]
    policy: str
    policy_options: tuple[str, ...]
    follows: str
    repairs: tuple[str, ...]

    @property
    def running(self) -> bool:
        """Return whether a crawl runs in the directory."""
        return self.holder is not None


def status(directory: Path) -> Status:
    """Return the status of the crawl in `directory`.

    Raises
    ------
    ConfigError
        There is no crawl in the directory.
    StoreError
        The crawl is damaged.
    """
    at = SystemClock().now()
    crawl = opened(directory)
    try:
        return state_of(crawl, View(crawl, settings(crawl.directory)[0], at), at)
    finally:
        crawl.close()


def calibration(directory: Path, tell: Tell | None = None) -> MeasuredCopies:
    """Return the calibration of P(fresh), from the whole journal of the crawl in `directory`.

    `tell` is called now and then with the progress of reading.

    Raises
    ------
    ConfigError
        There is no crawl in the directory.
    StoreError
        The crawl is damaged.
    """
    crawl = opened(directory)
    try:
        return measured(crawl, size_bytes=None, tell=tell)
    finally:
        crawl.close()


def state_of(crawl: Partition, view: View, at: float, probed: MeasuredCopies | None = None) -> Status:
    """Return the status of an open crawl from a view of it, for callers that keep both open.

    Parameters
    ----------
    probed
        Results of recent probes; by default they are read from the end of the journal.

    Raises
    ------
    StoreError
        The crawl is damaged.
    """
    state, disk, who = crawl.state, crawl.disk, holder(crawl.directory)
    classes = {outcome.label: state.outcomes[outcome] for outcome in Outcome if state.outcomes[outcome]}
    cells = state.table.record[: state.known.count]
    rows = state.records.rows[: state.records.count]
    config = view.config
    expected, weighted = expectations(view)
    bound = view.error_bound
    probed = probed or measured(crawl)
    return Status(
        at=at,
        made_at=crawl.birth.made_at,
        directory=str(crawl.directory.resolve()),
        holder=who,
        known=state.known.count,
        fetched=sum(classes.get(o.label, 0) for o in (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE)),
        never_fetched=int(np.count_nonzero(cells & np.uint32(NO_RECORD))),
        fresh=expected.fresh,
        fresh_by_importance=weighted.fresh,
        age_s=expected.age_s,
        age_by_importance_s=weighted.age_s,
        importance_clock=bound.clock,
        importance_factor=bound.factor,
        importance_error=bound.total,
        targets=targeting.met(view),
        measured=probed.measure(by_importance=False),
        measured_by_importance=probed.measure(by_importance=True),
        probes_waiting=probed.waiting,
        probes_unanswered=probed.unanswered.total(),
        visits=state.visits,
        changes=state.changes,
        classes=classes,
        near_duplicates=int(np.count_nonzero((rows["flags"] & NEAR != 0) & np.isin(rows["outcome"], HELD))),
        soft_404=int(np.count_nonzero((rows["outcome"] == Outcome.GONE) & (rows["status"] < 400))),
        refused_links={
            name.removeprefix(REFUSED): int(count) for name, count in state.notes.items() if name.startswith(REFUSED)
        },
        optouts={
            name.removeprefix(OPTOUTS): int(count) for name, count in state.notes.items() if name.startswith(OPTOUTS)
        },
        cut_links=int(state.notes.get(CUT_LINKS, 0.0)),
        received_bytes=state.wire_bytes,
        requisites=_requisites(crawl.directory),
        hosts=len(state.hosts),
        away={state.hosts[number]: until for number, until in state.away.items() if until > at},
        silent={state.hosts[number]: until for number, until in silent_until(state).items() if until > at},
        robots_unreachable=unreachable(crawl.directory / ROBOTS_FILE),
        proxies=tuple(stored_proxies(crawl.directory)) if config.proxy else (),
        set_aside=set_aside(disk),
        skipped_events=dict(crawl.skipped.why),
        archive_segments=len(crawl.archive.segments()),
        archive_bytes=sum(disk.size(crawl.archive.name(number)) for number in crawl.archive.segments()),
        journal_bytes=sum(part.end - part.start for part in segment.segments(disk)),
        snapshot_at=_snapshot_at(crawl.directory, disk),
        versions=_versions(crawl),
        policy=config.policy,
        policy_options=config.policy_options,
        follows=sentence(config, stored(crawl.directory, config)),
        repairs=() if who is not None else tuple(_repairs(crawl)),
    )


def _requisites(directory: Path) -> RequisiteCounts | None:
    with read_book(directory) as book:
        return book.counts() if book is not None else None


class Expected(NamedTuple):
    """Mean probability that copies are fresh, and their mean expected age; None if there is no copy."""

    fresh: float | None
    age_s: float | None


def expectations(view: View) -> tuple[Expected, Expected]:
    """Return the expected freshness and age of the copies: means over all copies, and means weighted by importance."""
    sums, weighted = np.zeros(3), np.zeros(3)
    for slots in view.pieces():
        pages = view.columns(slots)
        fresh = view.fresh(pages)
        held = ~np.isnan(fresh)
        of = np.stack([np.ones(len(slots)), fresh, expected_age_s(view.believing, pages, view.context)])[:, held]
        sums += of.sum(axis=1)
        weighted += of @ view.importance[slots][held]
    return _means(*sums.tolist()), _means(*weighted.tolist())


def _means(weight: float, fresh: float, age_s: float) -> Expected:
    return Expected(fresh / weight, age_s / weight) if weight else Expected(None, None)


def _snapshot_at(directory: Path, disk: Disk) -> float | None:
    for name in snapshot.names(disk):
        path = directory / name
        if path.exists():
            return path.stat().st_mtime
    return None


def _versions(crawl: Partition) -> dict[str, str]:
    return {
        "evercrawl": __version__,
        "directory": str(crawl.birth.format),
        "newest directory": str(FORMAT),
        "journal": str(segment.VERSION),
        "snapshot": str(snapshot_head.VERSION),
        "archive": warc.VERSION,
    }


def _repairs(crawl: Partition) -> list[str]:
    found = list(crawl.repairs)
    (number, size), (said_number, said_size) = crawl.archive.end, crawl.archive_end
    name = crawl.archive.name(number)
    if (number, size) > (said_number, said_size) and ((said_number, said_size) != (0, 0) or not crawl.state.visits):
        found.append(f"{name} holds records that no acknowledged fetch names; they will be cut off")
    elif (number, size) < (said_number, said_size):
        found.append(
            f"{name} ends at byte {size}, before records that the journal names; their pages will be fetched again"
        )
    if crawl.unswitched:
        found.append(unswitched(crawl))
    return found
