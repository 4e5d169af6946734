"""Cash of pages and of a virtual page that hands its cash out in constant time, however many pages there are."""

from collections.abc import Callable, Hashable

from evercrawl.importance.ledger.network import Level, NetworkPage, PageLinks, gifts


class Cells:
    """The cash of every page, the virtual page included.

    What the virtual page spends is not added to each page. Instead one level U rises by what a weight of 1 gets, and a
    page stores the key C - weight * U, which does not change. Pages of equal weight have the same order by key as by
    cash, so a heap for each weight stays a heap.

    Keys lose digits as the level rises; `rebase` resets it to 0, and is cheap if done once in n events.

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
        """Return a page; an unknown one becomes known at the clock `total`, without cash."""
        page = self.pages.get(name)
        if page is None:
            page = self.pages[name] = NetworkPage(born=total, level=self.level)
            self.names.append(name)
        return page

    def weigh(self, page: NetworkPage, weight: float) -> None:
        """Set the virtual page's weight for a page; the page's cash stays the same."""
        if weight == page.weight:
            return
        page.key += (page.weight - weight) * self.level.height
        self.weights += weight - page.weight
        self._weighted += bool(weight) - bool(page.weight)
        page.weight = weight
        if not self._weighted:
            self.weights = 0  # exactly, without the rounding error of the running sum

    def pay(self, held: PageLinks | None, internal: float, external: float) -> float:
        """Pay each link of a page, and return the total; the targets must be known."""
        paid: float = 0
        for target, amount in gifts(held or PageLinks(), internal, external):
            self.pages[target].key += amount
            self.tell(target)
            paid += amount
        return paid

    def spend(self) -> None:
        """Hand out the virtual page's cash, by weight; it waits while no page has a weight."""
        if self.weights and self.virtual:
            self.level.height += self.virtual / self.weights
            self.virtual = 0

    def rebase(self) -> None:
        """Add the cash handed out to the keys, and reset the level to 0."""
        height, self.level.height = self.level.height, 0
        for page in self.pages.values():
            page.key += page.weight * height
        self.weights = sum(page.weight for page in self.pages.values())
        self.rebased += 1

    def tell(self, name: Hashable) -> None:
        """Notify the watchers that a page's key has changed."""
        for watcher in self.watchers:
            watcher(name)
