"""State of a ledger: accounts and links of its pages, as a fold over its events."""

from collections.abc import Hashable, Iterable

from evercrawl.importance.base import Importance, Links, Past
from evercrawl.importance.ledger.cells import Cells
from evercrawl.importance.ledger.network import Event, NetworkPage, gifts


class Book:
    """The state of a ledger: only `fold` changes it.

    Attributes
    ----------
    pages
        Pages by name, in the order in which they became known.
    cells
        Their cash, and that of the virtual page.
    virtual_history
        Cash that the virtual page moved when it was visited.
    gone_history
        Cash that pages which have ended had moved: with it the histories sum to the clock.
    total
        The clock G.
    journal
        Every event so far; folding them into a new book reproduces this one.
    """

    def __init__(self, scheme: Importance, *, extra: int, at_once: bool, rebase: bool) -> None:
        self.scheme = scheme
        self.cells = Cells()
        self.pages = self.cells.pages
        self.virtual_history: float = 0
        self.gone_history: float = 0
        self.total: float = 0
        self.journal: list[Event] = []
        self._extra = extra
        self._at_once = at_once
        self._rebase = rebase
        self._unrebased = 0

    @property
    def virtual(self) -> float:
        """Cash of the virtual page."""
        return self.cells.virtual

    def fold(self, event: Event) -> None:
        """Apply an event, when it happens or in a replay."""
        if event.page is None:
            self.virtual_history += self.virtual
        else:
            self._move(event.page, event)
        if self.scheme.handout and (self._at_once or event.page is None):
            self.cells.spend()
        self.total = event.total
        self.journal.append(event)
        self._unrebased += 1
        if self._rebase and self._unrebased >= len(self.pages):
            self._unrebased = 0
            self.cells.rebase()

    def owed(self) -> float:
        """Return the error of the sum of all cash, the virtual page's included: 0, because cash is conserved."""
        pages = self.pages.values()
        there = sum(page.cash - page.put_in for page in pages) + self.virtual
        return there if self.scheme.handout else there - sum(page.weight for page in pages)

    def inflow(self) -> dict[Hashable, float]:
        """Return the inflow of each page along the known links: xM, where x is the history of the pages."""
        return self.passed_on({name: page.history for name, page in self.pages.items()})

    def passed_on(self, value: dict[Hashable, float]) -> dict[Hashable, float]:
        """Return the inflow of each page if every page passes its value on along its known links."""
        inflow: dict[Hashable, float] = dict.fromkeys(self.pages, 0)
        for name, page in self.pages.items():
            for target, amount in self.given(page, value[name]):
                inflow[target] += amount
        return inflow

    def given(self, page: NetworkPage, value: float) -> Iterable[tuple[Hashable, float]]:
        """Return the parts of a value that a page gives along its known links; the virtual page gets the rest."""
        links = self.links(page)
        return () if page.held is None or links is None else gifts(page.held, *self.scheme.each(value, links))

    def links(self, page: NetworkPage) -> Links | None:
        """Return the counts of a page's known links for the scheme; None if it was never read."""
        return None if page.held is None else page.held.counted(self._extra)

    def _move(self, name: Hashable, event: Event) -> None:
        cells, moved = self.cells, event.transfer
        page = cells.open(name, self.total)
        for target in event.held.targets if event.held is not None else ():
            cells.open(target, self.total)
        source = 0 if self.scheme.handout else event.weight - page.weight
        cells.weigh(page, event.weight)
        page.key += source + event.put_in - moved.moved
        page.put_in += event.put_in
        page.unmoved = 0 if moved.moved else page.unmoved + event.put_in
        cells.tell(name)
        back = cells.pay(page.held, -moved.back_internal, -moved.back_external)
        paid = cells.pay(event.held, moved.internal, moved.external)
        cells.virtual += moved.moved - back - paid
        self._remember(page, event)

    def _remember(self, page: NetworkPage, event: Event) -> None:
        moved = event.transfer
        if event.held is not None and event.target is not None:
            self._pass_on(page, self.pages[event.held.external[0]], event.target)
        if event.ends:
            self.gone_history += page.history
        page.history = 0 if event.ends else page.history + moved.moved
        page.ended = event.ends
        page.past, page.held = Past(moved.history, moved.mark, moved.kept), event.held

    def _pass_on(self, page: NetworkPage, target: NetworkPage, past: Past) -> None:
        target.past = past
        if self.scheme.handout:  # push gives the value itself
            target.history += page.history
            page.history = 0
