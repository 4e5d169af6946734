"""What sitemaps and feeds say has changed since it was last visited, and how far each site's word can be trusted."""

from collections.abc import Sequence
from sys import getsizeof
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.change import announcements, dates
from evercrawl.store.cash.accounts import Accounts
from evercrawl.types import Floats, Slots

_OBJECTS_BYTES: Final = 56  # a slot and an instant


class AnnouncedDates:
    """Dates of changes that were announced and not yet seen; in memory only, for whoever announced them will again.

    Parameters
    ----------
    accounts
        How often each site's announcements were true so far, and how many of its changes it announced.

    Examples
    --------
    >>> from evercrawl.store.cash.accounts import Accounts
    >>> notices = AnnouncedDates(Accounts(handout=False))
    >>> notices.listed([7], [100.0])
    >>> notices.date(7), notices.date(8)
    (100.0, 0.0)
    """

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._dates: dict[int, float] = {}
        self._first: dict[int, float] = {}
        self._usual: announcements.UsualAnnouncing | None = None
        self._learned, self._look_at = 0, 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use, about."""
        return sum(getsizeof(kept) + _OBJECTS_BYTES * len(kept) for kept in (self._dates, self._first))

    def listed(self, slots: Sequence[int], at: Sequence[float]) -> None:
        """Take note that each of these pages is said to have changed, later than its last visit."""
        self._dates.update(zip(slots, at, strict=True))
        for slot, instant in zip(slots, at, strict=True):
            self._first.setdefault(slot, instant)

    def date(self, slot: int) -> float:
        """Return when a page is said to have changed since its last visit; 0 where nothing is said."""
        return self._dates.get(slot, 0.0)

    def first(self, slot: int) -> float:
        """Return the first date that was announced of a page since its last visit; 0 where nothing is said."""
        return self._first.get(slot, 0.0)

    def visited(self, slot: int) -> None:
        """Forget what was said of a page: it was looked at."""
        self._dates.pop(slot, None)
        self._first.pop(slot, None)

    def heard(self, site: int, belief: tuple[float, float], passed_s: float) -> tuple[float, float]:
        """Return how many changes were to be expected of a page, and to be found; see `announcements`.

        Parameters
        ----------
        belief
            What was thought of the page's rate before.
        passed_s
            Time since the visit before, or until the first announcement.
        """
        self._learned += 1
        past = tuple(np.array([each]) for each in (*belief, passed_s, self.part(site)))
        return float(announcements.listening(*past)[0]), float(announcements.looking(*past)[0])

    def announces(self, site: int) -> bool:
        """Return whether a site ever announced a change that a visit then found."""
        return bool(self._accounts.sites["announced"][site])

    def part(self, site: int) -> float:
        """Return which part of its changes a site announces; 0 where it never did."""
        return float(announcements.part(self._know(), *_counts(self._accounts.sites[site : site + 1]))[0])

    def announced_share(self, sites: Slots) -> Floats | None:
        """Return which part of their changes sites announce, shape (n,); None where none ever did."""
        rows = self._accounts.sites.take(sites)
        return announcements.part(self._know(), *_counts(rows)) if rows["announced"].any() else None

    def forget_usual(self) -> None:
        """Let what is usual of sites be gone through again at the next question, however little was learned."""
        self._look_at = 0

    def _know(self) -> announcements.UsualAnnouncing:
        """Return what is usual of sites; all are gone through again when a tenth more was learned."""
        if self._usual is None or self._learned >= self._look_at:
            self._look_at = self._learned + 1 + self._learned // 10
            self._usual = announcements.usual(*_counts(self._accounts.sites[: self._accounts.count]))
        return self._usual

    def of(self, slots: Slots, sites: Slots) -> Floats:
        """Return for pages, shape (n,), -ln of the probability that what was said of them is false; 0 for the rest."""
        said = np.zeros(len(slots))
        if self._dates:
            for i, slot in enumerate(slots.tolist()):
                if slot in self._dates:
                    row = self._accounts.sites[sites[i]]
                    said[i] = dates.notice(int(row["listed_true"]), int(row["listed_false"]))
        return said


def _counts(rows: NDArray[Any]) -> tuple[Floats, Floats, Floats, Floats]:
    return rows["announced"], rows["unannounced"], rows["listened"], rows["looked"]
