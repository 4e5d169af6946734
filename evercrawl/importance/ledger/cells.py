"""The cash of pages beside a virtual page that hands out in no time, however many pages there are."""

from collections.abc import Callable, Hashable

from evercrawl.importance.ledger.network import Level, NetworkPage, PageLinks, gifts


class Cells:
    """Who has what, the virtual page included.

    What the virtual page spends is not carried to each page. One level U rises by what a weight of 1 gets, and a page
    keeps its key C - weight * U, which that leaves alone. Pages of one weight stand in the order of their keys, as they
    do in that of their cash, so that a heap for each weight stays a heap.

    Keys lose digits as the level rises; `rebase` puts it back to 0, and once in n events costs nothing.

    Examples
    --------
    >>> cells = Cells()
    >>> cells.weigh(cells.open("a"), 1), cells.weigh(cells.open("b"), 3)
    (None, None)
    >>> cells.virtual = 2.0
    >>> cells.spend()
    >>> cells.pages["b"].key, cells.pages["b"].cash, cells.virtual
    (0, 1.5, 0)
    """

    def __init__(self) -> None:
        self.pages: dict[Hashable, NetworkPage] = {}
        self.names: list[Hashable] = []
        self.level = Level()
        self.weights: float = 0
        self.virtual: float = 0
        self.rebased = 0
        self.watchers: list[Callable[[Hashable], None]] = []
        self._weighted = 0

    def open(self, name: Hashable, total: float = 0) -> NetworkPage:
        """Return a page; one not known yet is known from the clock `total` on, and has nothing: its key is -U."""
        page = self.pages.get(name)
        if page is None:
            page = self.pages[name] = NetworkPage(born=total, level=self.level)
            self.names.append(name)
        return page

    def weigh(self, page: NetworkPage, weight: float) -> None:
        """Let the virtual page have another weight for a page from now on; its cash stays as it is."""
        if weight == page.weight:
            return
        page.key += (page.weight - weight) * self.level.height
        self.weights += weight - page.weight
        self._weighted += bool(weight) - bool(page.weight)
        page.weight = weight
        if not self._weighted:
            self.weights = 0  # not the little that is left of sums of floats

    def pay(self, held: PageLinks | None, internal: float, external: float) -> float:
        """Give to each link of a page, and return how much in all; the pages are known."""
        paid: float = 0
        for target, amount in gifts(held or PageLinks(), internal, external):
            self.pages[target].key += amount
            self.tell(target)
            paid += amount
        return paid

    def spend(self) -> None:
        """Hand out what the virtual page has, by weight; it waits while no page has any."""
        if self.weights and self.virtual:
            self.level.height += self.virtual / self.weights
            self.virtual = 0

    def rebase(self) -> None:
        """Put what was handed out into the keys."""
        height, self.level.height = self.level.height, 0
        for page in self.pages.values():
            page.key += page.weight * height
        self.weights = sum(page.weight for page in self.pages.values())
        self.rebased += 1

    def tell(self, name: Hashable) -> None:
        """Tell those who watch that a page's key is another."""
        for watcher in self.watchers:
            watcher(name)
