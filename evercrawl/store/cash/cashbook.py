"""Applies the cash amounts of events to pages, sites and the virtual page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.store.cash import transfers
from evercrawl.store.cash.audit import CashAudit
from evercrawl.store.journal.codec import decode_runs, encode_slot
from evercrawl.store.journal.events import HAS_LINKS, JOINS, LEAVES, Event, Passed, VirtualSpent, Visit
from evercrawl.store.table.table import NO_RECORD, Saved, Table
from evercrawl.types import NO_SLOT, Floats, Slots

if TYPE_CHECKING:
    from evercrawl.store.cash.accounts import Accounts
    from evercrawl.store.records.records import Records
    from evercrawl.store.table.known import KnownLog

UNNOTICED: Final = 1e-6  # fraction of all cash that rounding may account for


class Cashbook:
    """Moves the cash of a state, in the same way live and at replay.

    The amounts are in the events, so that no scheme is needed.

    Parameters
    ----------
    table, records, accounts
        Cells of cash, records of pages, and accounts of sites.
    known
        All URLs.
    site_of
        Index of each host's site, u32, by host.
    lost
        Slot -> index of the record of a page whose content was lost.
    read
        Journal pointer -> its event; None in a state without a journal, which cannot look back.

    Attributes
    ----------
    saved
        The cells that the restored snapshot already contains, while the journal is folded from there; else None.
    """

    def __init__(
        self,
        table: Table,
        records: Records,
        accounts: Accounts,
        known: KnownLog,
        site_of: Slots,
        lost: Mapping[int, int],
        read: Callable[[int], Event] | None,
    ) -> None:
        self._table, self._records, self._accounts = table, records, accounts
        self._known, self._site_of, self._lost, self._read = known, site_of, lost, read
        self.saved: Saved | None = None
        self._audit = CashAudit(table, accounts, known)

    def settle(self, event: Visit, number: int, held: Visit | None) -> None:
        """Move the cash of a visit."""
        if event.flags & JOINS:
            self.join(event.slot, event.host, number)
        if event.flags & LEAVES:
            given = self._accounts.leave(int(self._site_of[event.host]))
            self._accounts.virtual += given - self._pay(event.slot, given, number)
        if not event.transfer:
            return
        moved = transfers.unpack(event.transfer)
        own = event if event.flags & HAS_LINKS else None
        if held is None and event.links and (own is None or moved.takes_back):
            held = self._recall(event.links)
        self._hand_on(own or held, event.joined)
        arrived = self._pay(event.slot, -moved.moved, number)
        arrived += self._pay_along(own or held, moved.internal, moved.external, number)
        if moved.takes_back:
            arrived += self._pay_along(held, -moved.back_internal, -moved.back_external, number)
        self._accounts.virtual -= arrived
        self._accounts.total += moved.moved
        self._accounts.spend()

    def passed(self, event: Passed, number: int, held: Visit | None) -> None:
        """Move the cash that a page passed on without a visit."""
        moved = transfers.unpack(event.transfer)
        index = self._table.record.item(event.slot)
        if index & NO_RECORD:
            index = self._lost[event.slot]
        row = self._records.rows[index]
        row["importance"], row["mark"] = moved.history, moved.mark
        self._records.changed.note(index)
        self.keep(index, event.kept)
        if held is None and event.links:
            held = self._recall(event.links)
        self._hand_on(held, event.joined)
        arrived = self._pay(event.slot, -moved.moved, number)
        arrived += self._pay_along(held, moved.internal, moved.external, number)
        self._accounts.virtual -= arrived
        self._accounts.total += moved.moved
        self._accounts.spend()

    def keep(self, index: int, kept: bytes) -> None:
        """Store the scheme's further numbers in a page's record, beside history and mark."""
        if kept:
            self._records.hold(index, transfers.unpack_numbers(kept))

    def join(self, slot: int, host: int, number: int) -> None:
        """Make a page a member of its host's site; it receives each member's share from now on."""
        given = self._accounts.join(int(self._site_of[host]))
        if given:
            self._accounts.virtual -= self._pay(slot, -given, number) + given
        self._accounts.spend()

    def move(self, slots: Slots, amounts: Floats, number: int) -> None:
        """Add amounts, shape (n,), to cells: cash from another partition, or to one if negative."""
        self._accounts.virtual -= self._table.pay_slots(slots, amounts, number + 1, self.saved)

    def virtual_spent(self, event: VirtualSpent, number: int) -> None:
        """Pay the virtual page's amounts to the pages of each group."""
        for runs, amount in zip(event.runs, event.amounts, strict=True):
            slots = decode_runs(runs)
            self.move(slots, np.full(len(slots), amount), number)

    def begin_anew(
        self,
        *,
        handout: bool,
        trusted: list[bool],
        pages: bool = False,
        in_turn: bool = False,
        focused: bool = False,
    ) -> None:
        """Reset cash and history; all cells change, so no snapshot may be in progress.

        Parameters
        ----------
        handout, trusted, pages, in_turn, focused
            See `Accounts.begin`.
        """
        rows = self._records.rows[: self._records.count]
        rows["importance"] = rows["mark"] = 0.0
        self._records.changed.note_rows(0, self._records.count)
        self._table.cash[: self._known.count] = 0.0
        self._table.changed_cash.note_rows(0, self._known.count)
        self._accounts.begin(handout=handout, trusted=trusted, pages=pages, in_turn=in_turn, focused=focused)
        self._accounts.spend()

    def owed(self) -> float:
        """Return the sum of all cash, the virtual page's included, minus the expected total: 0, by the law of cash.

        The expected total is 1 if the virtual page spends; else 0, because cells do not hold the constant sources.
        """
        cells = float(self._table.cash[: self._known.count].sum(dtype=np.float64))
        return cells + self._accounts.held() - (1.0 if self._accounts.handout else 0.0)

    def audit(self) -> None:
        """Assert the law of cash, up to rounding."""
        self._assert(self.owed())

    def audit_some(self) -> bool:
        """Sum some of the cash; return True once all of it is summed and the law was asserted."""
        owed = self._audit.owed()
        if owed is not None:
            self._assert(owed)
        return owed is not None

    def _assert(self, owed: float) -> None:
        assert abs(owed) <= UNNOTICED * self._all_cash(), f"{owed:.3g} of {self._all_cash():g} cash came from nowhere"

    def balance(self) -> bool:
        """Book rounding errors on the virtual page; return False if more than these is missing.

        The rounding errors of payments that a snapshot already contains are unknown. The absolute sum of the cells may
        exceed all cash, because some are negative.
        """
        owed = self.owed()
        cells = float(np.abs(self._table.cash[: self._known.count]).sum(dtype=np.float64))
        if not abs(owed) <= UNNOTICED * (self._all_cash() + cells):
            return False
        self._accounts.virtual -= owed
        return True

    def _hand_on(self, links: Visit | None, joined: bytes) -> None:
        """Store the window that the target of a link inherits, if the event has one."""
        if joined:
            assert links is not None, "a window goes where a link leads"
            index = self._table.record.item(links.alias)
            if index & NO_RECORD:
                index = self._lost[links.alias]
            history, mark, *kept = transfers.unpack_numbers(joined)
            row = self._records.rows[index]
            row["importance"], row["mark"] = history, mark
            self._records.changed.note(index)
            if kept:
                self._records.hold(index, kept)

    def _pay(self, slot: int, amount: float, number: int) -> float:
        """Add to the cash of one page; return the amount that arrived."""
        if self.saved is None:
            return self._table.give(slot, amount)
        return self._table.pay_links(encode_slot(slot), b"", amount, 0.0, number + 1, self.saved)

    def _pay_along(self, links: Visit | None, internal: float, external: float, number: int) -> float:
        """Pay each of the links of an event; return the amount that arrived."""
        if links is None or not (internal or external):
            return 0.0
        if links.alias != NO_SLOT:
            return self._pay(links.alias, external, number)
        return self._table.pay_links(links.targets, links.external, internal, external, number + 1, self.saved)

    def _recall(self, pointer: int) -> Visit:
        assert self._read is not None, "a state without a journal cannot look back"
        event = self._read(pointer)
        assert isinstance(event, Visit), "links are those of a visit"
        return event

    def _all_cash(self) -> float:
        return max(self._accounts.sources(), 1.0)
