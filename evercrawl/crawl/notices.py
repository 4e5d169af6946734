"""What sitemaps and feeds say has changed since it was last visited, and how far each site's word can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.change import announcements, dates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.store.accounts import Accounts
    from evercrawl.types import Floats, Slots


class Notices:
    """Dates of changes that were announced and not yet seen; in memory only, for whoever announced them will again.

    Parameters
    ----------
    accounts
        How often each site's announcements were true so far.

    Attributes
    ----------
    heard
        Which part of its changes each site announces, by what this run's visits found.

    Examples
    --------
    >>> from evercrawl.store.accounts import Accounts
    >>> notices = Notices(Accounts(handout=False))
    >>> notices.listed([7], [100.0])
    >>> notices.date(7), notices.date(8)
    (100.0, 0.0)
    """

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._dates: dict[int, float] = {}
        self._first: dict[int, float] = {}
        self.heard = announcements.Recall(0)

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

    def learn(self, site: int, told: bool, changed: bool, belief: tuple[float, float], passed_s: float) -> None:
        """Take in whether a visit found a change, and whether that was announced.

        `belief` is what was thought of the page's rate before, and `passed_s` the time since the visit before, or until
        the first announcement.
        """
        self.heard.grow(site + 1)
        sites = np.array([site])
        shape, scale_s, passed = (np.array([each]) for each in (*belief, passed_s))
        many = announcements.expected(shape, scale_s, passed, self.heard.of(sites))
        self.heard.learn(sites, np.array([told]), np.array([changed]), many)

    def recall(self, sites: Slots) -> Floats | None:
        """Return which part of their changes sites announce, shape (n,); None where none ever did."""
        if not self.heard.any:
            return None
        self.heard.grow(int(sites.max(initial=0)) + 1)
        return self.heard.relied_on(sites.astype(np.int64))

    def of(self, slots: Slots, sites: Slots) -> Floats:
        """Return for pages, shape (n,), -ln of the probability that what was said of them is false; 0 for the rest."""
        said = np.zeros(len(slots))
        if self._dates:
            for i, slot in enumerate(slots.tolist()):
                if slot in self._dates:
                    row = self._accounts.sites[sites[i]]
                    said[i] = dates.notice(int(row["listed_true"]), int(row["listed_false"]))
        return said
