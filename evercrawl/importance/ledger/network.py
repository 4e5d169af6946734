"""What a ledger is made of: pages with their accounts and links, and the events that change them."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from evercrawl.importance.base import Links, Past, Transfer


class PageLinks(NamedTuple):
    """The links of a page, by kind, in order.

    Attributes
    ----------
    internal, external
        Where they lead.
    through
        As in `Links`.
    weights, whole
        Where the links are the row of a matrix: what each of `external` gets of `whole`. Else () and 0.
    """

    internal: tuple[Hashable, ...] = ()
    external: tuple[Hashable, ...] = ()
    through: bool = False
    weights: tuple[float, ...] = ()
    whole: float = 0

    @property
    def targets(self) -> tuple[Hashable, ...]:
        """Return where all of them lead."""
        return self.internal + self.external

    def counted(self, extra: int = 0) -> Links:
        """Return what a scheme is told of them; `extra` links more lead to the virtual page.

        >>> PageLinks(("b",), ("c", "d")).counted(extra=1)
        Links(internal=1, external=2, out=4, through=False)
        """
        internal, external = len(self.internal), len(self.external)
        # a scheme divides by whatever stands here, and the row of a matrix need not be one of whole numbers
        out: float = self.whole if self.weights else internal + external + extra
        return Links(internal, external, out, self.through)  # type: ignore[arg-type]


_NEW: Final = Past(0, 0)


@dataclass(slots=True)
class Level:
    """How much the virtual page has handed out for a weight of 1, since the keys were last put right: U."""

    height: float = 0


@dataclass(slots=True)
class NetworkPage:
    """One page: its account, its links (None where it was never read), and what the virtual page has for it.

    Attributes
    ----------
    key
        Its cash, but for what the virtual page has handed out since `level` was 0.
    history
        H: all the cash that it ever moved, whatever the window.
    past
        What the scheme keeps of it: history within the window, mark, and whatever else.
    weight
        Its source, under a scheme whose virtual page keeps what it gets; else its weight when that is handed out.
    put_in, unmoved
        Cash that came from outside, C0; what of that has yet to be moved for the first time.
    born
        The clock G when it became known.
    ended
        Whether it is no more: others may still link to it, and what they bring goes to nobody.
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
        """C: what a visit would move now."""
        return self.key + self.weight * self.level.height

    @property
    def mark(self) -> float:
        """The clock G at the last visit."""
        return self.past.mark

    @property
    def leads_on(self) -> bool:
        """Whether it is an alias, and so no page of its own."""
        return self.held is not None and self.held.through


class Event(NamedTuple):
    """What happened to a page, with all amounts; `page` is None where the virtual page spent what it had.

    Attributes
    ----------
    total
        The clock G after it.
    weight, held
        The page's, after it.
    put_in
        Cash that came from outside.
    transfer
        What moved.
    ends
        Whether it is the page's end.
    target
        What is kept from now on of the page that this one has turned out to lead to.
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
    """Yield to whom how much is given along links.

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
