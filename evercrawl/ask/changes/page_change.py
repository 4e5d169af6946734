"""A change of a page, as it is told."""

from dataclasses import dataclass, field
from typing import Final

from evercrawl.model.stored.derived.kinds import ChangeKind

KINDS: Final = {
    ChangeKind.FIRST: "appeared",
    ChangeKind.CHANGED: "changed",
    ChangeKind.VANISHED: "vanished",
    ChangeKind.RETURNED: "returned",
    ChangeKind.MOVED: "moved",
}
"""What people call them."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """What became of a page.

    Attributes
    ----------
    sequence
        Events of the crawl up to this change, itself included: `after` this, the next one comes.
    url, title
        The page; its title then, "" where it has none.
    kind
        "appeared", "changed", "vanished", "returned" or "moved"; see `KINDS`.
    at
        When the visit began that found it; of several changes the last.
    before_at
        When the content before was read first; None for a page that appeared.
    extent
        Which part of the page is other than before, 0 to 1, by the similarity hash; 1 for one that came or went.
    times
        How many changes of the page it stands for.
    importance
        The page's share of all importance.
    status
        HTTP status.
    noise
        Whether only times, counters, tokens or rotating advertisements changed.
    version, before
        Numbers of the visits that brought the content after and before; None where there is none.
    slot
        Number of the page.
    """

    sequence: int
    url: str
    title: str
    kind: str
    at: float
    before_at: float | None
    extent: float
    times: int
    importance: float
    status: int
    noise: bool
    version: int | None
    before: int | None
    slot: int


@dataclass(frozen=True, slots=True)
class ChangeList:
    """What changed, the most important first.

    Attributes
    ----------
    changes
        As many as were asked for.
    pages
        How many pages changed in each way, noise included, by kind.
    noise
        How many changes were left out as noise on the way to the last of `changes`.
    upto
        Sequence of the last event that was looked at.
    unjudged
        How many of `changes` may be noise: there was no time to compare them with the changes before.
    """

    changes: tuple[PageChange, ...]
    pages: dict[str, int] = field(default_factory=dict[str, int])
    noise: int = 0
    upto: int = 0
    unjudged: int = 0

    @property
    def total(self) -> int:
        """Return how many pages changed."""
        return sum(self.pages.values())
