"""The cash that each visit moves, computed by the scheme from the page's account and links."""

from typing import Final, NamedTuple

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Account, Importance, Links, Transfer
from evercrawl.model.policy.schemes import length_of
from evercrawl.model.stored.reading import Reading
from evercrawl.model.web.outlinks import Outlinks
from evercrawl.store.cash import transfers
from evercrawl.store.journal.events import HAS_LINKS, JOINS, LEAVES, MEMBER, NEAR, Visit
from evercrawl.store.records.records import MEMBER as IS_MEMBER
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Outcome

READ: Final = (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE, Outcome.REDIRECT)
"""Outcomes of visits that show the links of a page, so that its cash moves."""


AUDIT_VISITS: Final = 256
AUDIT_URLS: Final = 1000  # known URLs for each further visit between two audits; adding their cells takes some 0.5 us


class Settlement(NamedTuple):
    """The effect of a visit on the cash, as fields of its event.

    Attributes
    ----------
    flags
        Bits of the event's flags.
    transfer
        The transfer, packed.
    links
        Position of the event with the links that the page had before; 0 if it is not needed.
    kept
        The numbers kept for the page, packed.
    joined
        The numbers kept for the target of an alias, packed, if the target takes over the alias's window.
    """

    flags: int
    transfer: bytes
    links: int
    kept: bytes = b""
    joined: bytes = b""


class Passing(NamedTuple):
    """What a page passes on without a visit, packed: the transfer, and the numbers kept for the page and its target."""

    transfer: bytes
    kept: bytes
    joined: bytes


class Cashier:
    """Computes the transfers of visits.

    Parameters
    ----------
    state
        The state, with the accounts of all pages.
    scheme
        The scheme of importance, which computes what a visit moves.
    """

    def __init__(self, state: State, scheme: Importance) -> None:
        assert scheme.width == state.scheme.width, "the crawl keeps other numbers of a page than its scheme"
        self._state = state
        self._scheme = scheme
        self._nothing = (0.0,) * scheme.width  # the numbers kept for an unread page
        self._unaudited = 0
        self._length = length_of(state.scheme, scheme.window, state) if isinstance(scheme, AOPIC) else None

    def settle(self, reading: Reading, outcome: Outcome, flags: int, alias: int, links: Outlinks) -> Settlement:
        """Return the cash that a visit moves.

        Parameters
        ----------
        reading
            The visit.
        outcome, flags, alias, links
            Fields of the event that is about to be written; `links` are its own links, if it has any.
        """
        before = reading.before
        self.renew(reading.exchange.at)
        assert outcome in READ or not flags & HAS_LINKS, "what is held of a page is not given up for a failed visit"
        gone = outcome == Outcome.GONE == before.outcome  # one 404 may be a mistake
        if outcome not in READ and not gone:
            return Settlement(MEMBER if before.member else 0, b"", 0)
        member = outcome in (Outcome.OK, Outcome.TRUNCATED) and alias == NO_SLOT and not flags & NEAR
        change = JOINS if member and not before.member else LEAVES if before.member and not member else 0
        change |= MEMBER if member else 0
        transfer, joined = self._transfer(reading, flags, alias, links, gone=gone)
        moved = _moved(transfer)
        if not moved.is_something:
            return Settlement(change, b"", 0)
        needed = before.event if moved.takes_back or not flags & HAS_LINKS else 0
        return Settlement(change, transfers.pack(moved), needed, transfers.pack_numbers(transfer.kept), joined)

    def renew(self, at: float) -> None:
        """Update the length of a window whose size is set in visits or time, as of an instant."""
        if self._length is not None:
            self._length.renew(at)

    def passed(self, slot: int, held: Visit | None, *, gone: bool = False) -> Passing:
        """Return what a page passes on without a visit; empty fields if it has nothing.

        Parameters
        ----------
        slot, held
            The page, which has a record, and the event with the links along which its cash goes.
        gone
            Whether the cash goes to the virtual page instead, because the page has vanished. Not for schemes that take
            back what was paid to links.
        """
        state = self._state
        index = state.record_of(slot)
        row = state.records.rows[state.lost[slot] if index is None else index]
        account = self._has(slot, int(state.site_of[row["host"]]) if row["flags"] & IS_MEMBER else None)
        links, joined = _links_of(held) if held is not None else Links(), b""
        if gone:
            moved = self._scheme.remove(account, None, state.accounts.total)
        else:
            moved = self._scheme.visit(account, links, links, state.accounts.total, same=True)
            moved, joined = self._handed_on(account, moved, held.alias if held is not None else NO_SLOT)
        if not _moved(moved).is_something:
            return Passing(b"", b"", b"")
        return Passing(transfers.pack(_moved(moved)), transfers.pack_numbers(moved.kept), joined)

    def audit(self, visits: int) -> None:
        """Count visits, and now and then verify that cash is conserved; this adds a thousandth to their time."""
        self._unaudited += visits
        enough = AUDIT_VISITS + self._state.known.count // AUDIT_URLS
        if self._unaudited >= enough and self._state.cashbook.audit_some():
            self._unaudited = 0

    def _transfer(
        self, reading: Reading, flags: int, alias: int, links: Outlinks, *, gone: bool
    ) -> tuple[Transfer, bytes]:
        before, total = reading.before, self._state.accounts.total
        held = before.held
        site = self._state.site_of.item(reading.host.number) if before.member else None
        account, was = self._has(reading.slot, site), _links_of(held) if held is not None else None
        if gone:
            return self._scheme.remove(account, was, total), b""
        if not flags & HAS_LINKS:
            transfer = self._scheme.visit(account, was, was or Links(), total, same=True)
            return self._handed_on(account, transfer, held.alias if held is not None else NO_SLOT)
        now = Links(out=links.out, through=alias != NO_SLOT)
        same = held is not None and _same(held, alias, links) and was == now
        return self._handed_on(account, self._scheme.visit(account, was, now, total, same=same), alias)

    def _handed_on(self, account: Account, transfer: Transfer, alias: int) -> tuple[Transfer, bytes]:
        """Return the transfer of an alias, and the numbers kept for its target; other transfers are unchanged.

        Cash that an alias passes on does not count in its own window. The content of its window joins the window of its
        target once the target was read; until then the window ages like that of a page that receives nothing.
        """
        if alias == NO_SLOT or not self._scheme.handout:  # under push the value itself is passed on
            return transfer, b""
        total, index = self._state.accounts.total, self._recorded(alias)
        if account.history and index is None:
            idle = self._scheme.visit(account._replace(cash=0.0), None, Links(), transfer.moved + total, same=True)
            return transfer._replace(history=idle.history, mark=idle.mark, kept=idle.kept), b""
        begun = self._scheme.remove(account, None, total + transfer.moved)
        transfer = transfer._replace(history=begun.history, mark=begun.mark, kept=begun.kept)
        if not account.history or index is None:
            return transfer, b""
        row = self._state.records.rows[index]
        site = int(self._state.site_of[row["host"]]) if row["flags"] & IS_MEMBER else None
        joined = self._scheme.unite(account, self._has(alias, site), total)[1]
        return transfer, transfers.pack_numbers((joined.history, joined.mark, *joined.kept))

    def _recorded(self, slot: int) -> int | None:
        """Return the index of a page's record, even if its content is lost; None if the page was never read."""
        index = self._state.record_of(slot)
        return self._state.lost.get(slot) if index is None else index

    def _has(self, slot: int, site: int | None) -> Account:
        """Return the present account of a page, which may have passed cash on while its visit was under way.

        The cash is rounded as in events. For a member it includes the page's share of its `site`'s source.
        """
        state = self._state
        cash = state.table.cash.item(slot) + (state.accounts.share(site) if site is not None else 0.0)
        moved = transfers.rounded(cash)
        moved = max(moved, 0.0) if state.accounts.handout else moved
        index = self._recorded(slot)
        born = state.born.item(slot) if len(state.born) else 0.0
        if index is None:
            return Account(moved, 0.0, 0.0, self._nothing, born)
        kept = tuple(state.records.kept[index].tolist()) if self._nothing else ()
        return Account(moved, *state.records.cash_at(index), kept, born)


def _moved(transfer: Transfer) -> transfers.Moved:
    return transfers.Moved(
        transfer.history, transfer.mark, transfer.moved, transfer.internal, transfer.external,
        transfer.back_internal, transfer.back_external,
    )  # fmt: skip


def _links_of(event: Visit) -> Links:
    return Links(out=event.out, through=event.alias != NO_SLOT)


def _same(held: Visit, alias: int, links: Outlinks) -> bool:
    return (held.alias, held.targets, held.external, held.out) == (alias, *links)
