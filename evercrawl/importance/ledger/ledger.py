"""A small network in memory: the pages and links of a crawl, and the cash that a scheme moves among them.

Crawls keep cash in columns of the store. This keeps it in a plain dictionary, for study and for tests: it works with
any number type, so with fractions the laws hold exactly, and its state is a fold over `journal`, like that of a crawl.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Literal

from evercrawl.importance.base import Account, Importance, Past, Transfer
from evercrawl.importance.ledger.book import Book
from evercrawl.importance.ledger.matrices import Matrix
from evercrawl.importance.ledger.network import Event, NetworkPage, PageLinks


class Ledger(Book):
    """Pages, links and cash under one scheme; each operation ends in one event of its `Book`.

    The cost of a visit is proportional to the page's links, however many pages there are; the cash that the virtual
    page hands out is kept as one number (`Cells`).

    Parameters
    ----------
    scheme
        The scheme that decides what moves.
    convention
        `tax`: the virtual page gets the scheme's tax. `link`: it is one more link of each page; the scheme's tax is 0.
    at_once
        Whether a virtual page that spends does so after every event, which the clock does not count, or only when it
        is visited.
    site
        Function that returns the site of a page; by default each page is its own site.
    raw
        Whether to keep links of a page to itself, and to count a repeated link each time.
    matrix
        How a page's cash is divided among its links; by default equally, except for the scheme's weight within a site.
    rebase
        Whether keys are recomputed once in as many events as there are pages.

    Examples
    --------
    Two pages that link to each other, visited until almost nothing is left to push:

    >>> from evercrawl.importance import AOPIC, Ledger, Push, Unbounded, shares
    >>> ledger = Ledger(Push(tax=0.5))
    >>> ledger.add("a"), ledger.add("b", weight=2)
    (None, None)
    >>> for turn in range(40):
    ...     ledger.visit("ab"[turn % 2], ["a", "b", "b"])
    >>> round(ledger.pages["a"].history, 9), round(ledger.pages["b"].history, 9)
    (2.666666667, 3.333333333)

    The paper's two pages, of which "b" also links to itself. Half of its cash comes back to it at each visit, because
    a page's cash is taken before its links are paid. In the pseudo-code as printed it is set to zero afterwards, and
    the returned cash is lost: after one visit each, half of all cash is, and the histories no longer sum to the clock.

    >>> ledger = Ledger(AOPIC(tax=0, window=Unbounded()), raw=True)
    >>> links = {"a": ["b"], "b": ["a", "b"]}
    >>> ledger.add("a", cash=0.5), ledger.add("b", cash=0.5)
    (None, None)
    >>> ledger.visit("a", links["a"]), ledger.visit("b", links["b"])
    (None, None)
    >>> {name: page.cash for name, page in ledger.pages.items()}, ledger.total
    ({'a': 0.5, 'b': 0.5}, 1.5)
    >>> cash, history, clock = {"a": 0.5, "b": 0.5}, {"a": 0.0, "b": 0.0}, 0.0
    >>> for page in "ab":  # as printed
    ...     history[page] += cash[page]
    ...     for target in links[page]:
    ...         cash[target] += cash[page] / len(links[page])
    ...     clock += cash[page]
    ...     cash[page] = 0.0
    >>> cash, history, clock
    ({'a': 0.5, 'b': 0.0}, {'a': 0.5, 'b': 1.0}, 2.0)

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3.
    """

    def __init__(
        self,
        scheme: Importance,
        *,
        convention: Literal["tax", "link"] = "tax",
        at_once: bool = True,
        site: Callable[[Hashable], Hashable] = lambda page: page,
        raw: bool = False,
        matrix: Matrix | None = None,
        rebase: bool = True,
    ) -> None:
        assert convention == "tax" or not scheme.tax, "where the virtual page is one more link, nothing else is taxed"
        assert convention == "tax" or matrix is None, "a matrix itself says what it spares for the virtual page"
        super().__init__(scheme, extra=int(convention == "link"), at_once=at_once, rebase=rebase)
        self._site = site
        self._raw = raw
        self._matrix = matrix

    def add(self, page: Hashable, weight: float = 1, cash: float = 0) -> None:
        """Add a page with a weight for the virtual page, and put cash in."""
        known = self.pages.get(page, NetworkPage())
        self.fold(Event(page, self.total, weight, cash, known.held, _still(known)))

    def visit(self, page: Hashable, targets: Iterable[Hashable]) -> None:
        """Visit a page that now links to `targets`; unknown targets become known."""
        self._visit(page, self._account(page), self._held(page, targets))

    def alias(self, page: Hashable, target: Hashable) -> None:
        """Visit a page that turns out to be an alias of another: its cash and inflow go to the target, untaxed.

        The virtual page gives it nothing more, and its history counts as the target's, in the window too.
        """
        assert page != target, "a page that leads to itself leads nowhere"
        known, account, joined = self.pages[page], self._account(page, 0), None
        if not known.leads_on:
            left, joined = self.scheme.unite(account, self._account(target), self.total)
            account = Account(account.cash, *left, known.born, known.unmoved)
        self._visit(page, account, PageLinks((), (target,), through=True), joined)

    def relink(self, page: Hashable, targets: Iterable[Hashable]) -> None:
        """Change a page's links: what it gave is redistributed, but none of its cash moves."""
        known, held = self.pages[page], self._held(page, targets)
        account = self._account(page, known.weight)._replace(cash=0, put_in=0)
        transfer = self.scheme.visit(account, self.links(known), held.counted(self._extra), self.total, same=False)
        history, mark, kept = known.past
        self.fold(
            Event(page, self.total, known.weight, 0, held, transfer._replace(history=history, mark=mark, kept=kept))
        )

    def remove(self, page: Hashable) -> None:
        """End a page; other pages may still link to it."""
        account = self._account(page, 0)
        transfer = self.scheme.remove(account, self.links(self.pages[page]), self.total)
        self.fold(Event(page, self.total, 0, 0, None, transfer, ends=True))

    def visit_virtual(self) -> None:
        """Let the virtual page spend its cash, as a visit that the clock counts."""
        self.fold(Event(None, self.total + self.virtual))

    def _visit(self, name: Hashable, account: Account, held: PageLinks, target: Past | None = None) -> None:
        page, links = self.pages[name], held.counted(self._extra)
        weight = 0 if held.through else page.weight
        transfer = self.scheme.visit(account, self.links(page), links, self.total, same=held == page.held)
        self.fold(Event(name, self.total + transfer.moved, weight, 0, held, transfer, target=target))

    def _account(self, name: Hashable, weight: float | None = None) -> Account:
        """Return a page's account, or what it would be with the weight `weight`; an unknown page has nothing."""
        page = self.pages.get(name, NetworkPage(born=self.total))
        source = 0 if self.scheme.handout or weight is None else weight - page.weight
        return Account(page.cash + source, *page.past, page.born, page.unmoved)

    def _held(self, page: Hashable, targets: Iterable[Hashable]) -> PageLinks:
        if self._matrix is not None:
            row = self._matrix.row(page, targets)
            return PageLinks((), tuple(row.weights), weights=tuple(row.weights.values()), whole=row.whole)
        links = tuple(targets) if self._raw else tuple(dict.fromkeys(t for t in targets if t != page))
        internal = tuple(target for target in links if self._site(target) == self._site(page))
        return PageLinks(internal, tuple(target for target in links if self._site(target) != self._site(page)))


def _still(page: NetworkPage) -> Transfer:
    return Transfer(0, page.past.history, page.past.mark, kept=page.past.kept)
