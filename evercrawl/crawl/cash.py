"""What cash each visit moves: the scheme's judgement, brought together with what the crawl knows of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.importance.base import Account, Links
from evercrawl.store import transfers
from evercrawl.store.events import HAS_LINKS, JOINS, LEAVES, MEMBER, NEAR
from evercrawl.store.records import MEMBER as IS_MEMBER
from evercrawl.types import NO_SLOT, Outcome

if TYPE_CHECKING:
    from evercrawl.crawl.outlinks import Outlinks
    from evercrawl.crawl.reading import Reading
    from evercrawl.importance.base import Importance
    from evercrawl.store.events import Visit
    from evercrawl.store.state import State

_READ: Final = (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE, Outcome.REDIRECT)


AUDIT_VISITS: Final = 256
AUDIT_URLS: Final = 1000  # known for each further visit between two audits: adding up so many cells takes some 0.5 us


class Settlement(NamedTuple):
    """What a visit does to the cash: event flags, the packed transfer, and where the links held before are."""

    flags: int
    transfer: bytes
    links: int


class Cashier:
    """Settles visits.

    Parameters
    ----------
    state
        Who has what.
    scheme
        Judges what a visit moves.
    """

    def __init__(self, state: State, scheme: Importance) -> None:
        self._state = state
        self._scheme = scheme
        self._unaudited = 0

    def settle(self, reading: Reading, flags: int, alias: int, links: Outlinks) -> Settlement:
        """Return what cash a visit moves.

        Parameters
        ----------
        reading
            The visit; its outcome is final.
        flags, alias, links
            Of the event that is about to be written; `links` are its own where it has any.
        """
        before, outcome = reading.before, reading.outcome
        assert outcome in _READ or not flags & HAS_LINKS, "what is held of a page is not given up for a visit in vain"
        gone = outcome == Outcome.GONE == before.outcome  # one 404 may be a mistake
        if outcome not in _READ and not gone:
            return Settlement(MEMBER if before.member else 0, b"", 0)
        member = outcome in (Outcome.OK, Outcome.TRUNCATED) and alias == NO_SLOT and not flags & NEAR
        change = JOINS if member and not before.member else LEAVES if before.member and not member else 0
        transfer = self._transfer(reading, flags, alias, links, gone=gone)
        packed = transfers.pack(transfer) if any(transfer[2:]) else b""
        needed = before.event if packed and (transfer.takes_back or not flags & HAS_LINKS) else 0
        return Settlement(change | (MEMBER if member else 0), packed, needed)

    def passed(self, slot: int, held: Visit | None) -> bytes:
        """Return the packed transfer of a page that passes its cash on without a visit, along the links of `held`."""
        state = self._state
        row = state.records.rows[state.table.record.item(slot)]
        site = int(state.site_of[row["host"]]) if row["flags"] & IS_MEMBER else None
        account = self._has(slot, site, float(row["importance"]), float(row["mark"]))
        links = _links_of(held) if held is not None else Links()
        moved = self._scheme.visit(account, links, links, state.accounts.total, same=True)
        return transfers.pack(transfers.Moved(moved.history, moved.mark, moved.moved, *moved[3:7]))

    def audit(self, visits: int) -> None:
        """Hear of some visits, and now and then see that no cash was made or lost, for a thousandth of their time."""
        self._unaudited += visits
        if self._unaudited >= AUDIT_VISITS + self._state.known.count // AUDIT_URLS:
            self._unaudited = 0
            self._state.audit()

    def _transfer(self, reading: Reading, flags: int, alias: int, links: Outlinks, *, gone: bool) -> transfers.Moved:
        before, total = reading.before, self._state.accounts.total
        held = before.held
        account, was = self._account(reading), _links_of(held) if held is not None else None
        if gone:
            moved = self._scheme.remove(account, was, total)
        elif not flags & HAS_LINKS:
            moved = self._scheme.visit(account, was, was or Links(), total, same=True)
        else:
            now = Links(out=links.out, through=alias != NO_SLOT)
            same = held is not None and _same(held, alias, links) and was == now
            moved = self._scheme.visit(account, was, now, total, same=same)
        return transfers.Moved(moved.history, moved.mark, moved.moved, *moved[3:7])

    def _account(self, reading: Reading) -> Account:
        """Return what the page has by now: it may have passed cash on while it was being asked for."""
        site = self._state.site_of.item(reading.host.number) if reading.before.member else None
        index = self._state.record_of(reading.slot)
        index = self._state.lost.get(reading.slot) if index is None else index
        row = self._state.records.rows[index] if index is not None else None
        kept = (0.0, 0.0) if row is None else (row["importance"].item(), row["mark"].item())
        return self._has(reading.slot, site, *kept)

    def _has(self, slot: int, site: int | None, history: float, mark: float) -> Account:
        """Return an account, its cash as it can be written down, the part of its site's source included."""
        state = self._state
        cash = state.table.cash.item(slot) + (state.accounts.share(site) if site is not None else 0.0)
        moved = transfers.rounded(cash)
        return Account(max(moved, 0.0) if state.accounts.handout else moved, history, mark)


def _links_of(event: Visit) -> Links:
    return Links(out=event.out, through=event.alias != NO_SLOT)


def _same(held: Visit, alias: int, links: Outlinks) -> bool:
    return (held.alias, held.targets, held.external, held.out) == (alias, *links)
