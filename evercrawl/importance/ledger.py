"""A small network in memory: the pages and links of a crawl, and the cash that a scheme moves among them.

Crawls keep cash in columns of the store. This keeps it in a plain dictionary, for people and for tests: it takes any
number, so with fractions the laws hold exactly, and all of its state is a fold over `journal`, as that of a crawl is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evercrawl.importance.base import Account, Importance, Links, Transfer
from evercrawl.importance.network import Event, Held, Page, gifts

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable


class Ledger:
    """Pages, links and cash under one scheme.

    Parameters
    ----------
    scheme
        Decides what moves.
    convention
        `tax`: the virtual page gets the scheme's tax. `link`: it is one more link of each page; the scheme's tax is 0.
    at_once
        Whether a virtual page that spends does so after every event, which the clock does not count; or when it is
        visited.
    site
        The site of a page; by default each page is its own.
    raw
        Keep links of a page to itself, and count a link as often as it stands there.

    Attributes
    ----------
    pages
        By name.
    virtual, virtual_history
        Cash of the virtual page, and cash that it moved when it was visited.
    total
        The clock G.
    journal
        Every event so far; folding them into a new ledger makes this one again.

    Examples
    --------
    Two pages that link to each other, until nearly nothing is left to push:

    >>> from evercrawl.importance.push import Push
    >>> ledger = Ledger(Push(tax=0.5))
    >>> ledger.add("a"), ledger.add("b", weight=2)
    (None, None)
    >>> for turn in range(40):
    ...     ledger.visit("ab"[turn % 2], ["a", "b", "b"])
    >>> round(ledger.pages["a"].history, 9), round(ledger.pages["b"].history, 9)
    (2.666666667, 3.333333333)
    """

    def __init__(
        self,
        scheme: Importance,
        *,
        convention: Literal["tax", "link"] = "tax",
        at_once: bool = True,
        site: Callable[[Hashable], Hashable] = lambda page: page,
        raw: bool = False,
    ) -> None:
        assert convention == "tax" or not scheme.tax, "where the virtual page is one more link, nothing else is taxed"
        self.scheme = scheme
        self.pages: dict[Hashable, Page] = {}
        self.virtual: float = 0
        self.virtual_history: float = 0
        self.total: float = 0
        self.journal: list[Event] = []
        self._extra = int(convention == "link")
        self._at_once = at_once
        self._site = site
        self._raw = raw

    # What may happen; each ends in one event

    def add(self, page: Hashable, weight: float = 1, cash: float = 0) -> None:
        """Let the virtual page know a page, and put cash in."""
        known = self.pages.get(page, Page())
        self.fold(Event(page, self.total, weight, cash, known.held, _still(known)))

    def visit(self, page: Hashable, targets: Iterable[Hashable]) -> None:
        """Visit a page that links to `targets` now; those not known yet become known."""
        held = self._held(page, targets)
        self._visit(page, held, self.pages[page].weight)

    def alias(self, page: Hashable, target: Hashable) -> None:
        """Visit a page that turns out to lead to another only; the virtual page has nothing for it any more."""
        assert page != target, "a page that leads to itself leads nowhere"
        self._visit(page, Held((), (target,), through=True), 0)

    def relink(self, page: Hashable, targets: Iterable[Hashable]) -> None:
        """Take note of other links; what was given is given anew, but no cash of the page moves."""
        known, held = self.pages[page], self._held(page, targets)
        account = Account(0, known.history, known.mark)
        transfer = self.scheme.visit(account, self._links(known.held), self._count(held), self.total, same=False)
        transfer = transfer._replace(history=known.history, mark=known.mark)
        self.fold(Event(page, self.total, known.weight, 0, held, transfer))

    def remove(self, page: Hashable) -> None:
        """End a page; other pages may go on linking to it."""
        account = self._account(page, 0)
        transfer = self.scheme.remove(account, self._links(self.pages[page].held), self.total)
        self.fold(Event(page, self.total, 0, 0, None, transfer))

    def visit_virtual(self) -> None:
        """Let the virtual page spend what it has, as a visit that the clock counts."""
        self.fold(Event(None, self.total + self.virtual))

    # The state

    def fold(self, event: Event) -> None:
        """Let an event happen, now or again."""
        if event.page is None:
            self.virtual_history += self.virtual
            self._spend()
        else:
            self._move(self.pages.setdefault(event.page, Page()), event)
            if self._at_once:
                self._spend()
        self.total = event.total
        self.journal.append(event)

    def owed(self) -> float:
        """Return the sum of all cash, the virtual page's included, less what it should be: 0, by the law of cash."""
        pages = self.pages.values()
        there = sum(page.cash - page.put_in for page in pages) + self.virtual
        return there if self.scheme.handout else there - sum(page.weight for page in pages)

    def inflow(self) -> dict[Hashable, float]:
        """Return what the known links bring to each page, xM, if x is the history of the pages."""
        inflow: dict[Hashable, float] = dict.fromkeys(self.pages, 0)
        for page in self.pages.values():
            if page.held is not None:
                for target, amount in gifts(page.held, *self.scheme.each(page.history, self._count(page.held))):
                    inflow[target] += amount
        return inflow

    def _visit(self, page: Hashable, held: Held, weight: float) -> None:
        account, before = self._account(page, weight), self.pages[page].held
        links = self._count(held)
        transfer = self.scheme.visit(account, self._links(before), links, self.total, same=held == before)
        self.fold(Event(page, self.total + transfer.moved, weight, 0, held, transfer))

    def _account(self, name: Hashable, weight: float) -> Account:
        """Return what a page has once its weight is `weight`."""
        page = self.pages[name]
        source = 0 if self.scheme.handout else weight - page.weight
        return Account(page.cash + source, page.history, page.mark)

    def _move(self, page: Page, event: Event) -> None:
        moved = event.transfer
        source = 0 if self.scheme.handout else event.weight - page.weight
        page.cash += source + event.put_in - moved.moved
        page.put_in += event.put_in
        back = self._pay(page.held, -moved.back_internal, -moved.back_external)
        paid = self._pay(event.held, moved.internal, moved.external)
        self.virtual += moved.moved - back - paid
        page.history, page.mark, page.weight, page.held = moved.history, moved.mark, event.weight, event.held

    def _pay(self, held: Held | None, internal: float, external: float) -> float:
        paid: float = 0
        for target, amount in gifts(held or Held(), internal, external):
            self.pages.setdefault(target, Page()).cash += amount
            paid += amount
        return paid

    def _spend(self) -> None:
        """Hand out what the virtual page has, by weight, if the scheme has it spend at all."""
        weights = sum(page.weight for page in self.pages.values())
        if self.scheme.handout and weights and self.virtual:
            for page in self.pages.values():
                page.cash += self.virtual * page.weight / weights
            self.virtual = 0

    def _held(self, page: Hashable, targets: Iterable[Hashable]) -> Held:
        links = tuple(targets) if self._raw else tuple(dict.fromkeys(t for t in targets if t != page))
        internal = tuple(target for target in links if self._site(target) == self._site(page))
        return Held(internal, tuple(target for target in links if self._site(target) != self._site(page)))

    def _links(self, held: Held | None) -> Links | None:
        return None if held is None else self._count(held)

    def _count(self, held: Held) -> Links:
        internal, external = len(held.internal), len(held.external)
        return Links(internal, external, internal + external + self._extra, held.through)


def _still(page: Page) -> Transfer:
    return Transfer(0, page.history, page.mark)
