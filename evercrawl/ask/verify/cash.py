"""Whether the cash of a crawl adds up: in all, site by site, and page by page along the links last read."""

from typing import Any, Final

import numpy as np

from evercrawl.ask.verify.findings import Findings
from evercrawl.importance.base import Importance, Links
from evercrawl.importance.push import Push
from evercrawl.model.error_bound import error_bound
from evercrawl.model.policy.schemes import scheme_of
from evercrawl.model.stored.reader import events
from evercrawl.store.cash.accounts import Accounts
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, LetterReceived, LetterSent, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import MEMBER
from evercrawl.store.state import State
from evercrawl.store.table.table import NO_RECORD, ROOT
from evercrawl.types import NO_SLOT, Floats, Slots

WORST: Final = 1e-6
"""What a sum may be off by, in parts of all cash, and a page, in parts of its importance and its site's source."""
_KIND: Final = "cash"
_COUNTED: Final = (
    "members", "date_true", "date_false", "listed_true", "listed_false", "announced", "unannounced",
    "listened", "looked",
)  # fmt: skip


def check_cash(partition: Partition, folded: State, upto: int, found: Findings) -> None:
    """Check the laws of cash in a state that was folded from the whole journal.

    Parameters
    ----------
    partition
        The crawl; its journal is read once more, for the links.
    folded, upto
        The fold of its first `upto` events.
    """
    accounts = folded.accounts
    there, owed = max(accounts.sources(), 1.0), folded.cashbook.owed()
    if not abs(owed) <= WORST * there:
        found.blame(f"cash: {owed:.3g} of {there:g} is too much (below 0: has gone)")
    found.measure("cash in all", abs(owed) / there)
    bound = error_bound(folded, scheme_of(folded.scheme, folded))
    if bound.total is not None:
        found.measure("importance in sum, at most", bound.total)
    _members(folded, found)
    scheme = scheme_of(folded.scheme, folded)
    if isinstance(scheme, Push):
        _pages(partition, folded, upto, scheme, found)
    elif accounts.handout:
        _no_debts(folded, found)


def compare_cash(state: State, folded: State, found: Findings) -> None:
    """Compare the cash that a crawl going on would hold with the fold of all events."""
    count = min(state.known.count, folded.known.count)
    held, true = state.table.cash[:count], folded.table.cash[:count]
    # a cell gets the same amounts in the same order; only what a newcomer is lowered by may be rounded otherwise
    off = ~np.isclose(held, true, rtol=1e-6, atol=1e-12) if folded.accounts.handout else held != true
    if off.any():
        slot = int(np.argmax(off))
        found.blame(
            f"the snapshot's cash: slot {slot} has {held[slot]}, and the journal folds to {true[slot]}; "
            f"{np.count_nonzero(off)} slots differ"
        )
    _accounts(state.accounts, folded.accounts, found)


def _accounts(held: Accounts, true: Accounts, found: Findings) -> None:
    for name, one, other in (
        ("virtual page", held.virtual, true.virtual),
        ("clock", held.total, true.total),
        ("cash in no cell", held.held(), true.held()),
    ):
        if not np.isclose(one, other, rtol=WORST, atol=WORST * max(true.sources(), 1.0)):
            found.blame(f"the snapshot's {name}: {one}, and the journal folds to {other}")
    if held.count != true.count:
        found.blame(f"the snapshot has {held.count} sites, and the journal folds to {true.count}")
        return
    mine, theirs = held.sites[: held.count], true.sites[: true.count]
    for column in _COUNTED:
        other_sites = np.flatnonzero(mine[column] != theirs[column])
        if len(other_sites):
            site = int(other_sites[0])
            found.blame(
                f"the snapshot's {column} of site {site}: {mine[column][site]}, and the journal folds to "
                f"{theirs[column][site]}; {len(other_sites)} sites differ"
            )


def _members(folded: State, found: Findings) -> None:
    """See that each site has as many members as its records and its unread roots say."""
    count = folded.accounts.count
    counted = np.bincount(members(folded)[1], minlength=count)
    said = folded.accounts.sites["members"][:count]
    found.count("sites", count)
    for site in np.flatnonzero(counted != said).tolist():
        found.blame(
            f"cash: site {folded.sites[site]} has {said[site]} members, and {counted[site]} pages say they are",
            _KIND,
        )


def members(folded: State) -> tuple[Slots, Slots]:
    """Return slot and site of each member; a page whose content was lost still has its record."""
    rows: Any = folded.records.rows[: folded.records.count]
    cells = folded.table.record[: folded.known.count]
    unread = (cells & np.uint32(NO_RECORD | ROOT)) == np.uint32(NO_RECORD | ROOT)
    unread[rows["slot"]] = False
    roots = np.flatnonzero(unread).astype(np.uint32)
    read = rows[(rows["flags"] & MEMBER) != 0]
    hosts = np.concatenate([read["host"], folded.known.rows()["host"][roots]])
    return np.concatenate([read["slot"], roots]), folded.site_of[hosts]


def _no_debts(folded: State, found: Findings) -> None:
    """See that no page has less than nothing."""
    cash = folded.table.cash[: folded.known.count].astype(np.float64)
    slots, sites = members(folded)
    cash[slots] += folded.accounts.shares(sites)
    found.count("pages with cash", int(np.count_nonzero(cash)))
    for slot in np.flatnonzero(cash < -WORST).tolist():
        found.blame(f"cash: {folded.urls.get(slot)} has {cash[slot]:.3g}, less than nothing", _KIND)


def _pages(partition: Partition, folded: State, upto: int, scheme: Importance, found: Findings) -> None:
    """See that what each page has, and has had, is what its links bring: x + r - src = xM."""
    rows: Any = folded.records.rows[: folded.records.count]
    value = np.zeros(folded.known.count)
    value[rows["slot"]] = rows["importance"]
    brought = _brought(partition, folded, upto, scheme, value)
    cells = folded.table.cash[: folded.known.count].astype(np.float64)
    off = np.abs(value + cells - brought)
    found.count("pages with cash", int(np.count_nonzero((value != 0) | (cells != 0))))
    found.measure("cash of a page", float(np.max(off / (1.0 + np.abs(value)), initial=0.0)))
    borne = WORST * (1.0 + np.abs(value))
    for slot in np.flatnonzero(~(off <= borne)).tolist():
        found.blame(
            f"cash: {folded.urls.get(slot)} has had {value[slot]:.9g} and holds {cells[slot]:.9g} of what links bring, "
            f"and they bring {brought[slot]:.9g}",
            _KIND,
        )


def _brought(partition: Partition, folded: State, upto: int, scheme: Importance, value: Floats) -> Floats:
    """Return what the links of all pages, as they were last read, bring to each page, shape (known,)."""
    rows: Any = folded.records.rows[: folded.records.count]
    last = np.zeros(len(value), np.uint64)
    last[rows["slot"]] = rows["event"]
    brought = np.zeros(len(value))
    for pointer, _, event in events(partition, upto):
        if isinstance(event, Visit) and event.flags & HAS_LINKS and last[event.slot] == pointer:
            slots, amounts = _gifts(event, scheme, float(value[event.slot]))
            known = slots < len(value)
            brought[slots[known]] += amounts[known]
        elif isinstance(event, (LetterSent, LetterReceived)):
            sign = -1.0 if isinstance(event, LetterSent) else 1.0
            brought[decode_slots(event.slots)] += sign * np.frombuffer(event.amounts)
            if isinstance(event, LetterReceived) and event.keys:
                slots = folded.table.find(np.frombuffer(event.keys, np.uint64))
                known = slots < len(value)
                np.add.at(brought, slots[known], np.frombuffer(event.left)[known])
    return brought


def _gifts(event: Visit, scheme: Importance, value: float) -> tuple[Slots, Floats]:
    """Return to whom a page with links like these gives what of its value."""
    through = event.alias != NO_SLOT
    inside, outside = scheme.each(value, Links(out=event.out, through=through))
    if through:
        return np.array([event.alias], np.uint32), np.array([outside])
    slots = decode_slots(event.targets)
    bits = np.frombuffer(event.external.ljust(-(-len(slots) // 8), b"\0"), np.uint8)
    return slots, np.where(np.unpackbits(bits, count=len(slots), bitorder="little"), outside, inside)
