"""What a ledger is made of: pages with their accounts and links, and the events that change them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from evercrawl.importance.base import Transfer

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator


class Held(NamedTuple):
    """The links of a page, by kind, in order; `through` as in `Links`."""

    internal: tuple[Hashable, ...] = ()
    external: tuple[Hashable, ...] = ()
    through: bool = False


@dataclass(slots=True)
class Page:
    """One page: its account, its links (None where it was never read), and what the virtual page has for it.

    Attributes
    ----------
    weight
        Its source, under a scheme whose virtual page keeps what it gets; else its weight when that is handed out.
    put_in
        Cash that came from outside, C0.
    """

    cash: float = 0
    history: float = 0
    mark: float = 0
    weight: float = 0
    put_in: float = 0
    held: Held | None = None


class Event(NamedTuple):
    """What happened to a page, with all amounts; `page` is None where the virtual page spent what it had."""

    page: Hashable
    total: float
    weight: float = 0
    put_in: float = 0
    held: Held | None = None
    transfer: Transfer = Transfer(0, 0)


def gifts(held: Held, internal: float, external: float) -> Iterator[tuple[Hashable, float]]:
    """Yield to whom how much is given along links.

    >>> list(gifts(Held(("b",), ("c", "d")), 1, 2))
    [('b', 1), ('c', 2), ('d', 2)]
    """
    for targets, amount in ((held.internal, internal), (held.external, external)):
        if amount:
            yield from ((target, amount) for target in targets)
