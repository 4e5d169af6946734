"""Which part of a site's changes it announces, in sitemaps and feeds: learned from what visits find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.types import Floats, Ints

_MOST: Final = 0.98
"""No site is thought to announce more: of pages that are never looked at unasked nobody learns that they are silent."""
_FEW: Final = 1.0  # changes that were to be expected, and went unannounced, before any was looked for
_AT_ONCE: Final = 1.0  # of those a visit may have come too late to tell apart, at most


class Recall:
    """How many changes of each site were announced, and how many were not; of all sites, from 0.

    A visit that follows an announcement and finds a change has heard one, and one that finds a change of which nothing
    was said has missed one. But whoever follows announcements sees few of the others, as these come to light together
    with the next that is announced. So either kind is held against the changes that were to be expected: announced ones
    in all the time before something was announced, silent ones in the time before visits of which nothing was said.

    Parameters
    ----------
    sites
        How many there are; more may come.

    Attributes
    ----------
    heard, missed
        Changes that were announced, and that were not, shape (sites,).
    listened, looked
        Changes that were to be expected while they might have been announced, and while nothing was, shape (sites,).

    Examples
    --------
    A site that announced all nine changes, and whose page was as it was when nothing was said; and one that says
    nothing:

    >>> recall, page, yes = Recall(2), np.zeros(1, np.int64), np.ones(1, bool)
    >>> for _ in range(9):
    ...     recall.learn(page, yes, yes, np.ones(1) / 2)
    ...     recall.learn(page, ~yes, ~yes, np.ones(1) / 2)
    >>> recall.learn(page + 1, ~yes, yes, np.zeros(1))
    >>> recall.of(np.array([0, 1])).round(2)
    array([0.83, 0.  ])
    """

    def __init__(self, sites: int) -> None:
        self.heard, self.missed, self.listened, self.looked = (np.zeros(sites) for _ in range(4))

    @property
    def any(self) -> bool:
        """Whether a change was ever announced."""
        return bool(self.heard.any())

    def grow(self, sites: int) -> None:
        """Make room for as many sites."""
        more = sites - len(self.heard)
        if more > 0:
            self.heard, self.missed, self.listened, self.looked = (
                np.concatenate([each, np.zeros(more)]) for each in (self.heard, self.missed, self.listened, self.looked)
            )

    def of(self, site: Ints) -> Floats:
        """Return the part of its changes that each site announces, rho, shape (n,); 0 before it ever did."""
        heard = self.heard[site] / (self.listened[site] + _FEW)
        missed = (self.missed[site] + _FEW) / (self.looked[site] + _FEW)
        return np.minimum(heard / (heard + missed), _MOST)

    def relied_on(self, site: Ints) -> Floats:
        """Return how much of that policies are to rely on, shape (n,): 2 rho - 1, nothing up to a half.

        Whoever does not look does not learn: where rates are being learned and few changes are announced, made-up
        pages were kept a little less fresh for relying on all of it (300 pages, one draw).
        """
        return np.maximum(2.0 * self.of(site) - 1.0, 0.0)

    def learn(self, site: Ints, told: NDArray[np.bool_], changed: NDArray[np.bool_], expected: Floats) -> None:
        """Take in what visits found, shape (n,) each.

        Parameters
        ----------
        site
            Of each page.
        told, changed
            Whether a change was announced since the visit before, and whether one was found.
        expected
            How many changes were to be expected since then, or until one was announced.
        """
        silent = np.minimum((1.0 - self.of(site)) * expected, _AT_ONCE)
        some = -np.expm1(-silent)
        missed = np.divide(silent, some, out=np.ones(len(some)), where=some > 0)  # that one visit found together
        quiet = ~told
        np.add.at(self.heard, site[told & changed], 1.0)
        np.add.at(self.missed, site[quiet & changed], missed[quiet & changed])
        np.add.at(self.listened, site, expected)
        np.add.at(self.looked, site[quiet], expected[quiet])


def expected(shape: Floats, scale_s: Floats, passed_s: Floats, recall: Floats) -> Floats:
    """Return how many changes were to be expected of pages of which nothing was heard meanwhile, shape (n,).

    Silence tells of the rate Gamma(a, b), too: after t seconds it is Gamma(a, b + rho t).

    >>> one = np.ones(1)
    >>> expected(one, one, 2 * one, 0 * one), expected(one, one, 2 * one, one / 2)
    (array([2.]), array([1.]))
    """
    return shape * passed_s / (scale_s + recall * passed_s)
