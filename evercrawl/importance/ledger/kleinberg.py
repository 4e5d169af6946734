"""Kleinberg's authorities and hubs, learned page by page: push over two hops."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class HubAndAuthority:
    """The values of a page as an authority and as a hub.

    Attributes
    ----------
    authority, hub
        Its values.
    as_authority, as_hub
        Inflow: the hub values of the pages that link to it; the authority values of the pages that it links to.
    children, parents
        The pages that it links to, and those that link to it, each with the number of links.
    """

    authority: float = 0
    hub: float = 0
    as_authority: float = 0
    as_hub: float = 0
    children: Counter[Hashable] = field(default_factory=Counter["Hashable"])
    parents: Counter[Hashable] = field(default_factory=Counter["Hashable"])


class Kleinberg:
    """Hubs and authorities, updated page by page: x <- xL / |xL| with L = K'K.

    A visit sets a page's values to its inflow, and passes the changes on: that of the authority to the pages that link
    to it, that of the hub to those it links to. Each link carries the whole change, so values are not cash: the rows of
    K have no common sum, and the inflow is divided by a common factor, which is learned on the way.
    If each page shared its cash among its links instead, in either direction, cash would be conserved, and the result
    would be SALSA (Lempel and Moran 2001): on a connected graph it is only the number of links to a page.

    Examples
    --------
    Two hubs, one of which also links to "c"; the authorities have the golden ratio, and the eigenvalue is its square:

    >>> ranks = Kleinberg()
    >>> ranks.read("a", ["b", "c"]), ranks.read("d", ["b"])
    (None, None)
    >>> for _ in range(30):
    ...     ranks.turn()
    >>> authorities = ranks.authorities()
    >>> round(authorities["b"] / authorities["c"], 6), round(ranks.eigenvalue, 6)
    (1.618034, 2.618034)

    References
    ----------
    Kleinberg (1999). Authoritative sources in a hyperlinked environment. Abiteboul, Preda, Cobena (2003), section 2.
    """

    def __init__(self) -> None:
        self.pages: dict[Hashable, HubAndAuthority] = {}
        self._values: float = 0
        self._incoming: float = 0

    def read(self, page: Hashable, targets: Iterable[Hashable]) -> None:
        """Set a page's links; a repeated link counts each time."""
        mine, children = self._open(page), Counter(targets)
        if children and not mine.hub:
            self._begin(mine)
        for child in children.keys() | mine.children.keys():
            more, other = children[child] - mine.children[child], self._open(child)
            other.parents[page] += more
            if not other.parents[page]:
                del other.parents[page]
            self._bring(other, mine.hub * more, 0)
            self._bring(mine, 0, other.authority * more)
        mine.children = children

    def visit(self, page: Hashable) -> None:
        """Set the page's values to its inflow, first as authority and then as hub, and pass the changes on."""
        mine, factor = self.pages[page], self.factor
        if not factor:
            return
        change, mine.authority = mine.as_authority / factor - mine.authority, mine.as_authority / factor
        for parent, links in mine.parents.items():
            self._bring(self.pages[parent], 0, change * links)
        more, mine.hub = mine.as_hub / factor - mine.hub, mine.as_hub / factor
        for child, links in mine.children.items():
            self._bring(self.pages[child], more * links, 0)
        self._values += change + more

    def turn(self) -> None:
        """Visit each page once, in the order in which they became known."""
        for page in list(self.pages):
            self.visit(page)
        both = self.pages.values()
        self._values = sum(page.authority + page.hub for page in both)  # anew, as running sums of floats drift
        self._incoming = sum(page.as_authority + page.as_hub for page in both)

    @property
    def factor(self) -> float:
        """The ratio of the inflow to the values: it converges to the largest singular value of K."""
        return self._incoming / self._values if self._values else 0

    @property
    def eigenvalue(self) -> float:
        """The current estimate of the largest eigenvalue of K'K."""
        return self.factor**2

    def authorities(self) -> dict[Hashable, float]:
        """Return each page's share as an authority, one step ahead of its value; there must be a link."""
        return _shares({name: page.as_authority for name, page in self.pages.items()})

    def hubs(self) -> dict[Hashable, float]:
        """Return each page's share as a hub."""
        return _shares({name: page.as_hub for name, page in self.pages.items()})

    def _open(self, name: Hashable) -> HubAndAuthority:
        """Return a page; an unknown one is created, with the initial values of an authority and a hub."""
        if name not in self.pages:
            self.pages[name] = HubAndAuthority(authority=1, hub=1)
            self._values += 2
        return self.pages[name]

    def _begin(self, page: HubAndAuthority) -> None:
        """Give a page without values an initial hub value: two zeros at the ends of a link would stay zero for ever."""
        page.hub = 1
        self._values += 1
        for child, links in page.children.items():
            self._bring(self.pages[child], links, 0)

    def _bring(self, page: HubAndAuthority, as_authority: float, as_hub: float) -> None:
        page.as_authority += as_authority
        page.as_hub += as_hub
        self._incoming += as_authority + as_hub


def _shares(worth: dict[Hashable, float]) -> dict[Hashable, float]:
    whole = sum(worth.values())
    return {name: value / whole for name, value in worth.items()}
