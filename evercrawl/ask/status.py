"""Where a crawl is: counts, what it holds, who is at it, and what its next start would mend."""

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
from evercrawl.store import partition
from evercrawl.store.archive import warc
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
    """A crawl directory at one instant.

    Attributes
    ----------
    at, made_at
        Now, and when the crawl was started; seconds since the epoch.
    directory
        Where it is.
    holder
        Process that crawls: pid, host, since (seconds since the epoch), purpose; empty if it did not say, None if none
        does.
    known, fetched, never_fetched
        URLs ever seen; pages whose content is held; URLs without any visit.
    fresh, fresh_by_importance
        Probability that a copy held is the page as it is now: mean over the copies, and mean weighted by importance;
        None where none is held.
    age_s, age_by_importance_s
        Expected age of the copies, 0 as long as they are fresh: the same means.
    importance_clock, importance_factor, importance_error
        What the crawl can say of the error of importance: see `model.error_bound.ErrorBound`.
    targets
        How far the targets of crawl.toml are met, in their order.
    measured, measured_by_importance
        What random probes of late say of freshness and age, of copies drawn alike, and by importance; None before the
        first was judged.
    probes_waiting, probes_unanswered
        Pages that were drawn and are still to be visited; and those of late whose visit did not tell.
    visits, changes
        Ever made; visits that brought new content to a known page.
    classes
        Class of the last visit -> pages.
    near_duplicates, soft_404
        Pages among those fetched that say nearly what another said before them; pages counted as gone although their
        host said that all was well.
    refused_links
        Setting -> links refused in all runs because its budget was spent, as the last snapshot has it.
    cut_links
        Links that were left out of pages with too many, counted anew with each content that was read.
    optouts
        Request of those who train or feed models -> contents read that ask for it; see `OptOut`.
    received_bytes
        Of bodies, as on the wire.
    requisites
        What pages need to be shown: how much is known, archived, owed and failed; None where nobody fetches it.
    hosts
        Host names met.
    away
        Host -> instant until which it is left alone, where that is still to come.
    silent
        Host -> instant until which it is left alone since it said nothing while too many were waited for, where that is
        still to come; as the last snapshot has it, of some hundred hosts.
    robots_unreachable
        Origin -> why its robots.txt could not be fetched when it was last asked for, so that its pages wait.
    proxies
        How the proxies do, as the crawl said when that changed last; nothing before one has failed.
    set_aside
        URL -> what went wrong, for those that are not requested because evercrawl's own code failed on them twice.
    skipped_events
        Number of an event of the journal -> what went wrong, for those that are left out because evercrawl's own code
        failed on them when the journal was read back.
    archive_segments, archive_bytes, journal_bytes
        On the disk.
    snapshot_at
        Instant of the last snapshot; None where there is none.
    versions
        Of evercrawl and of the formats on the disk.
    policy, policy_options
        Which page next: what the run under way follows, or the last one did.
    follows
        The same in words, with what crawl.toml says where that is something else.
    repairs
        What the next start would mend, a sentence each; nothing is known of that while a crawl runs.
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
        """Whether a crawl runs in the directory."""
        return self.holder is not None


def status(directory: Path) -> Status:
    """Return where the crawl in `directory` is.

    Raises
    ------
    ConfigError
        There is none.
    StoreError
        It is damaged.
    """
    at = SystemClock().now()
    crawl = opened(directory)
    try:
        return state_of(crawl, View(crawl, settings(crawl.directory)[0], at), at)
    finally:
        crawl.close()


def calibration(directory: Path, tell: Tell | None = None) -> MeasuredCopies:
    """Return what the whole journal of the crawl in `directory` says of how well P(fresh) was told.

    Now and then `tell` is told how much of it was read.

    Raises
    ------
    ConfigError
        There is none.
    StoreError
        It is damaged.
    """
    crawl = opened(directory)
    try:
        return measured(crawl, size_bytes=None, tell=tell)
    finally:
        crawl.close()


def state_of(crawl: Partition, view: View, at: float, probed: MeasuredCopies | None = None) -> Status:
    """Return where an open crawl is, by what a view of it believes; for who keeps both open.

    Parameters
    ----------
    probed
        What probes found of late; the end of the journal is read for it where it is not given.

    Raises
    ------
    StoreError
        It is damaged.
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
    """Mean probability that copies are fresh, and their mean expected age; None where there is no copy."""

    fresh: float | None
    age_s: float | None


def expectations(view: View) -> tuple[Expected, Expected]:
    """Return what is expected of the copies held: the means over all of them, and those weighted by importance."""
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
        "newest directory": str(partition.FORMAT),
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
