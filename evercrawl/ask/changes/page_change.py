"""A change of a page, and a list of changes."""

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
"""Name of each kind in answers."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """A change of a page.

    Attributes
    ----------
    sequence
        Sequence number of the event that found the change; pass it as `after` to get the next changes.
    url, title
        The page, and its title at that time, "" if it had none.
    kind
        "appeared", "changed", "vanished", "returned" or "moved"; see `KINDS`.
    at
        Start of the visit that found the change; for several changes, the last one.
    before_at
        When the previous content was first read; None for a page that appeared.
    extent
        Changed part of the page, 0 to 1, by the similarity hash; 1 for a page that appeared or vanished.
    times
        Number of changes of the page that the entry combines.
    importance
        The page's share of all importance.
    status
        HTTP status.
    noise
        Whether only times, counters, tokens or rotating advertisements changed.
    version, before
        Numbers of the visits that brought the content after and before the change; None if there is none.
    slot
        Slot of the page.
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
    """A list of changes, the most important first.

    Attributes
    ----------
    changes
        The changes, up to the requested limit.
    pages
        Kind -> number of pages, noise included.
    noise
        Number of changes left out as noise before the last of `changes`.
    upto
        Sequence number of the last event examined.
    unjudged
        Number of `changes` that may be noise, because there was no time to compare them with earlier changes.
    """

    changes: tuple[PageChange, ...]
    pages: dict[str, int] = field(default_factory=dict[str, int])
    noise: int = 0
    upto: int = 0
    unjudged: int = 0

    @property
    def total(self) -> int:
        """Return the number of pages that changed."""
        return sum(self.pages.values())
