"""Changes announced by sitemaps and feeds since the last visit, and the reliability of each site's announcements."""

from collections.abc import Sequence
from sys import getsizeof
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.change import announcements, dates
from evercrawl.store.cash.accounts import Accounts
from evercrawl.types import Floats, Slots

_OBJECTS_BYTES: Final = 56  # of the two Python objects, a slot and an instant


class AnnouncedDates:
    """Announced changes that no visit has seen yet; kept in memory only, because sites announce them again.

    Parameters
    ----------
    accounts
        Per site, how often announcements were true so far, and the share of its changes that it announced.

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
        """Approximate memory use in bytes."""
        return sum(getsizeof(kept) + _OBJECTS_BYTES * len(kept) for kept in (self._dates, self._first))

    def listed(self, slots: Sequence[int], at: Sequence[float]) -> None:
        """Record an announced change of each of these pages, later than its last visit."""
        self._dates.update(zip(slots, at, strict=True))
        for slot, instant in zip(slots, at, strict=True):
            self._first.setdefault(slot, instant)

    def date(self, slot: int) -> float:
        """Return the announced date of a change since the page's last visit; 0 if there is none."""
        return self._dates.get(slot, 0.0)

    def first(self, slot: int) -> float:
        """Return the first announced date since the page's last visit; 0 if there is none."""
        return self._first.get(slot, 0.0)

    def visited(self, slot: int) -> None:
        """Drop the announcements of a page, which was visited."""
        self._dates.pop(slot, None)
        self._first.pop(slot, None)

    def heard(self, site: int, belief: tuple[float, float], passed_s: float) -> tuple[float, float]:
        """Return the expected changes of a page while nothing was announced, and those left to visits to find.

        Parameters
        ----------
        belief
            The posterior of the page's rate before the visit.
        passed_s
            Time from the previous visit to this one, or to the first announcement.
        """
        self._learned += 1
        past = tuple(np.array([each]) for each in (*belief, passed_s, self.part(site)))
        return float(announcements.listening(*past)[0]), float(announcements.looking(*past)[0])

    def announces(self, site: int) -> bool:
        """Return whether a visit ever confirmed a change that the site announced."""
        return bool(self._accounts.sites["announced"][site])

    def part(self, site: int) -> float:
        """Return the share of its changes that a site announces; 0 if it never announced any."""
        return float(announcements.part(self._know(), *_counts(self._accounts.sites[site : site + 1]))[0])

    def announced_share(self, sites: Slots) -> Floats | None:
        """Return the share of their changes that sites announce, shape (n,); None if no site ever did."""
        rows = self._accounts.sites.take(sites)
        return announcements.part(self._know(), *_counts(rows)) if rows["announced"].any() else None

    def forget_usual(self) -> None:
        """Recompute the sites' statistics at the next query, however little was learned since."""
        self._look_at = 0

    def _know(self) -> announcements.UsualAnnouncing:
        """Return the sites' statistics; recomputed for all sites when a tenth more was learned."""
        if self._usual is None or self._learned >= self._look_at:
            self._look_at = self._learned + 1 + self._learned // 10
            self._usual = announcements.usual(*_counts(self._accounts.sites[: self._accounts.count]))
        return self._usual

    def of(self, slots: Slots, sites: Slots) -> Floats:
        """Return -ln of the probability that a page's announcement is false, shape (n,); 0 without one."""
        said = np.zeros(len(slots))
        if self._dates:
            for i, slot in enumerate(slots.tolist()):
                if slot in self._dates:
                    row = self._accounts.sites[sites[i]]
                    said[i] = dates.notice(int(row["listed_true"]), int(row["listed_false"]))
        return said


def _counts(rows: NDArray[Any]) -> tuple[Floats, Floats, Floats, Floats]:
    return rows["announced"], rows["unannounced"], rows["listened"], rows["looked"]
