"""The effect of a visit on the state: the page's record, its site's counts, and the index of contents."""

from typing import Final

from evercrawl.store.cash import transfers
from evercrawl.store.journal.events import (
    CHANGED,
    DATE_FALSE,
    DATE_TRUE,
    HAS_LINKS,
    LISTED_FALSE,
    LISTED_TRUE,
    MISSED,
    UNCHANGED,
    Visit,
)
from evercrawl.store.journal.events import MEMBER as MEMBER_NOW
from evercrawl.store.journal.events import NEAR as NEAR_NOW
from evercrawl.store.journal.events import VALIDATED as VALIDATED_NOW
from evercrawl.store.records import lasting, media_kind
from evercrawl.store.records.evidence import AnnouncementEvidence, RateEvidence
from evercrawl.store.records.records import FINDABLE, MEMBER, NEAR, VALIDATED, Record
from evercrawl.store.render_gains import VERDICTS
from evercrawl.store.state import HELD, VANISHED, State
from evercrawl.types import OptOut, Outcome

CUT_LINKS: Final = "cut_links"
"""Name of the state's note with the total number of links left out, on pages with too many."""

OPTOUTS: Final = "optout "
"""Prefix of notes that count the contents whose pages ask not to be used for models, by kind of request."""
_DATES: Final = (
    (DATE_TRUE, "date_true"),
    (DATE_FALSE, "date_false"),
    (LISTED_TRUE, "listed_true"),
    (LISTED_FALSE, "listed_false"),
)


def fold_record(state: State, event: Visit, pointer: int, number: int) -> None:
    """Update a page's record and the counts of all pages for a visit.

    Parameters
    ----------
    state
        The state, changed in place.
    event, pointer, number
        The visit, its journal pointer, and the number of events before it.
    """
    flags, outcome = event.flags, event.outcome
    index, record = _record(state, event)
    before = record.outcome
    if before:
        state.outcomes[before] -= 1
    same_content = event.visits > 1 and bool(flags & UNCHANGED or (record.digest and not flags & HAS_LINKS))
    # same content, same size and similarity hash; a visit in trouble has none of these
    folded = state.in_snapshot(index, number)
    rehashed = event.digest != record.digest and not folded  # same content under a new secret
    keeps = same_content and not rehashed
    simhash, words = (record.simhash, record.words) if keeps else (event.simhash, event.words)
    if not folded:
        record.lasting, record.earlier = _lasting(event, record, simhash, words)
    if not same_content:
        record.size_bytes = min(event.size_bytes, 0xFFFFFFFF)
    record.slot, record.host, record.visited = event.slot, event.host, state.ticks(event.at)
    if before == Outcome.OK and (outcome != Outcome.OK or event.digest != record.digest):
        state.originals.forget(record.digest, event.slot)
    record.digest, record.simhash, record.words = event.digest, simhash, words
    if flags & HAS_LINKS:
        record.event, record.alias = pointer, event.alias
        if not flags & UNCHANGED:
            record.wire_bytes = min(event.wire_bytes, 0xFFFFFFFF)
    if event.transfer:
        record.importance, record.mark = transfers.unpack_kept(event.transfer)
        state.cashbook.keep(index, event.kept)
    if event.evidence:
        record.rate_shape, record.rate_scale_s = RateEvidence.unpack(event.evidence)
    if event.changed_at:
        record.changed = record.visited if event.changed_at == event.at else state.ticks(event.changed_at)
    if outcome in HELD:
        record.seen = record.visited
    record.visits, record.changes = min(event.visits, 0xFFFF), min(event.changes, 0xFFFF)
    record.status, record.outcome, record.misses = event.status, outcome, min(event.misses, 0xFF)
    record.flags = _flags(event, record.flags)
    state.records.write(index, record)
    _count(state, event)
    if outcome == Outcome.OK and event.digest and not (flags & UNCHANGED and before == Outcome.OK and not rehashed):
        state.originals.note(event.digest, event.slot)


def count_dates(state: State, event: Visit) -> None:
    """Count whether the dates of the page's site were correct."""
    if event.flags & (DATE_TRUE | DATE_FALSE | LISTED_TRUE | LISTED_FALSE):
        row = state.accounts.row(int(state.site_of[event.host]))
        for flag, column in _DATES:
            if event.flags & flag:
                row[column] += 1


def count_announcements(state: State, event: Visit) -> None:
    """Add a visit's evidence on how much its site announces."""
    if event.announcement_evidence:
        row = state.accounts.row(int(state.site_of[event.host]))
        evidence = AnnouncementEvidence.unpack(event.announcement_evidence)
        told = event.flags & (LISTED_TRUE | LISTED_FALSE)
        row["announced"] += bool(event.flags & LISTED_TRUE)
        row["unannounced"] += bool(event.flags & MISSED)
        row["listened"] += evidence.listened
        row["looked"] += 0.0 if told else evidence.looked


def count_renderings(state: State, event: Visit) -> None:
    """Count what rendering a page brought, for its site; forgotten pages are not counted."""
    if event.flags & VERDICTS and not state.forgotten.has(event.slot):
        state.render_gains.learn(int(state.site_of[event.host]), event.flags)


def _record(state: State, event: Visit) -> tuple[int, Record]:
    """Return the index of a page's record and a copy of it; a page without a record gets one."""
    if event.visits > 1:
        index = state.table.record.item(event.slot)
        return index, state.records.read(index)
    index, depth = state.new_record(event.slot)
    record = state.records.read(index)
    record.depth = depth
    return index, record


def _count(state: State, event: Visit) -> None:
    state.outcomes[event.outcome] += 1
    state.visits += 1
    state.changes += event.flags & CHANGED
    state.wire_bytes += event.wire_bytes
    if event.cut and not event.flags & UNCHANGED:
        state.notes[CUT_LINKS] = state.notes.get(CUT_LINKS, 0.0) + event.cut
    if event.optouts and not event.flags & UNCHANGED:
        for label in OptOut(event.optouts).labels:
            state.notes[f"{OPTOUTS}{label}"] = state.notes.get(f"{OPTOUTS}{label}", 0.0) + 1
    if event.retry_at:
        state.away[event.host] = event.retry_at
        if event.status:
            state.wished[event.host] = event.retry_at


def _lasting(event: Visit, record: Record, simhash: int, words: int) -> tuple[int, int]:
    """Return the stored values about lasting changes after a visit; `record` is the record before it."""
    if event.visits == 1:
        return lasting.START, 0
    if event.outcome not in HELD:
        return record.lasting, record.earlier
    other = not event.flags & UNCHANGED and event.digest != record.digest
    changed = other and (words != record.words or not words)  # the same words in other bytes are no change
    return lasting.learn(record.lasting, record.earlier, record.simhash, simhash, changed=changed)


def _flags(event: Visit, flags: int) -> int:
    """Return the new flags of a page's record, given the old ones."""
    return (
        (MEMBER if event.flags & MEMBER_NOW else 0)
        | (VALIDATED if event.flags & VALIDATED_NOW else 0)
        | (FINDABLE if _findable(event, flags) else 0)
        | (NEAR if _near(event, flags) else 0)
        | _media_kind(event, flags)
    )


def _findable(event: Visit, flags: int) -> bool:
    """Return whether search should find a page from now on, given the old flags of its record."""
    if event.outcome in (Outcome.OK, Outcome.TRUNCATED):
        return event.digest != 0 and not event.flags & NEAR_NOW
    if event.outcome == Outcome.GONE:
        return event.misses < VANISHED and flags & FINDABLE != 0
    if event.outcome in (Outcome.DUPLICATE, Outcome.REDIRECT):
        return False
    return flags & FINDABLE != 0


def _near(event: Visit, flags: int) -> bool:
    """Return whether a page counts as a near-duplicate from now on, given the old flags of its record."""
    if event.flags & HAS_LINKS or event.outcome in HELD:
        return event.flags & NEAR_NOW != 0
    return flags & NEAR != 0


def _media_kind(event: Visit, flags: int) -> int:
    """Return the new bits of a page's kind of media, given the old flags of its record."""
    if event.flags & HAS_LINKS and event.outcome in HELD:
        return media_kind.kind_of(event.mime) << media_kind.SHIFT
    return flags & media_kind.MASK
