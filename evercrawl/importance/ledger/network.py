"""Parts of a ledger: pages with their accounts and links, and the events that change them."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from evercrawl.importance.base import Links, Past, Transfer


class PageLinks(NamedTuple):
    """The links of a page, by kind, in order.

    Attributes
    ----------
    internal, external
        Targets of the links.
    through
        As in `Links`.
    weights, whole
        If the links are the row of a matrix: the part of `whole` that each of `external` gets. Else () and 0.
    """

    internal: tuple[Hashable, ...] = ()
    external: tuple[Hashable, ...] = ()
    through: bool = False
    weights: tuple[float, ...] = ()
    whole: float = 0

    @property
    def targets(self) -> tuple[Hashable, ...]:
        """Return the targets of all links."""
        return self.internal + self.external

    def counted(self, extra: int = 0) -> Links:
        """Return the counts of the links for a scheme; `extra` further links lead to the virtual page.

        >>> PageLinks(("b",), ("c", "d")).counted(extra=1)
        Links(internal=1, external=2, out=4, through=False)
        """
        internal, external = len(self.internal), len(self.external)
        # a scheme divides by this number, which for the row of a matrix need not be an integer
        out: float = self.whole if self.weights else internal + external + extra
        return Links(internal, external, out, self.through)  # type: ignore[arg-type]


_NEW: Final = Past(0, 0)


@dataclass(slots=True)
class Level:
    """U: the cash that the virtual page has handed out for a weight of 1 since the last rebase of the keys."""

    height: float = 0


@dataclass(slots=True)
class NetworkPage:
    """One page: its account, its links (None if it was never read), and its weight with the virtual page.

    Attributes
    ----------
    key
        Its cash, without what the virtual page has handed out since `level` was 0.
    history
        H: all the cash that it ever moved, whatever the window.
    past
        The scheme's state of the page: history within the window, mark, and further numbers.
    weight
        Its source, under a scheme whose virtual page keeps its cash; otherwise its weight when that cash is spent.
    put_in, unmoved
        Initial cash, C0; the part of it that has yet to be moved for the first time.
    born
        The clock G when it became known.
    ended
        Whether the page has ended: others may still link to it, but it gets nothing from them.
    """

    key: float = 0
    history: float = 0
    weight: float = 0
    put_in: float = 0
    unmoved: float = 0
    held: PageLinks | None = None
    past: Past = _NEW
    born: float = 0
    ended: bool = False
    level: Level = field(default_factory=Level, compare=False, repr=False)

    @property
    def cash(self) -> float:
        """C: the cash that a visit would move now."""
        return self.key + self.weight * self.level.height

    @property
    def mark(self) -> float:
        """The clock G at the last visit."""
        return self.past.mark

    @property
    def leads_on(self) -> bool:
        """Whether the page is an alias of another."""
        return self.held is not None and self.held.through


class Event(NamedTuple):
    """An event of a page, with all amounts; `page` is None if the virtual page spent its cash.

    Attributes
    ----------
    total
        The clock G after the event.
    weight, held
        Weight and links of the page after the event.
    put_in
        Initial cash that was put in.
    transfer
        The amounts moved.
    ends
        Whether the event ends the page.
    target
        If the page turned out to be an alias, the new state of its target.
    """

    page: Hashable
    total: float
    weight: float = 0
    put_in: float = 0
    held: PageLinks | None = None
    transfer: Transfer = Transfer(0, 0)
    ends: bool = False
    target: Past | None = None


def gifts(held: PageLinks, internal: float, external: float) -> Iterator[tuple[Hashable, float]]:
    """Yield target and amount of each payment along links.

    >>> list(gifts(PageLinks(("b",), ("c", "d")), 1, 2))
    [('b', 1), ('c', 2), ('d', 2)]
    >>> list(gifts(PageLinks((), ("c", "d"), weights=(3, 1), whole=4), 0, 2))
    [('c', 6), ('d', 2)]
    """
    if internal:
        yield from ((target, internal) for target in held.internal)
    if external:
        weights = held.weights or (1,) * len(held.external)
        yield from ((target, external * weight) for target, weight in zip(held.external, weights, strict=True))
