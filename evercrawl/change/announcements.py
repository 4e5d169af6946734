"""Which part of a site's changes it announces, in sitemaps and feeds: learned from what visits find.

Pages change at rates of which Gamma(a, b) is believed; a part rho of the changes is announced. Of a page of which
nothing was said for t seconds the belief is Gamma(a, b + rho t), for silence tells of the rate, too.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Floats, Ints

_MOST: Final = 0.98
"""No site is thought to announce more: of pages that are never looked at unasked nobody learns that they are silent."""
AT_FIRST: Final = 0.5
"""The part that a site is taken to announce when the first of its changes was announced."""
_FEW: Final = 5.0  # changes of a site that were to be expected, for which what is usual counts as much as its own
_LITTLE: Final = 1e-9  # a part, or what is left of it, that is as good as none


class UsualAnnouncing(NamedTuple):
    """What is usual of sites that announce changes: how many of the changes to be expected they announce, or do not."""

    announced: float
    silent: float


class Recall:
    """How many changes of each site were announced, and how many were not; of all sites, from 0.

    A visit that follows an announcement and finds a change has heard one, and one that finds a change of which nothing
    was said has missed one. But whoever follows announcements sees few of the others, as these come to light together
    with the next that is announced. So either kind is held against what was to be expected: announcements in all the
    time before something was announced, changes in the time before visits of which nothing was said.

    Parameters
    ----------
    sites
        How many there are; more may come.

    Attributes
    ----------
    heard, missed
        Visits that found a change that was announced, and one of which nothing was said, shape (sites,).
    listened, looked
        How many of either there would have been had all changes been announced, and none, shape (sites,); see
        `listening` and `looking`.

    Examples
    --------
    A site that announced all nine changes, and whose page was as it was when nothing was said; and one that says
    nothing:

    >>> recall, page, yes, half = Recall(2), np.zeros(1, np.int64), np.ones(1, bool), np.ones(1) / 2
    >>> for _ in range(9):
    ...     recall.learn(page, yes, yes, half, half)
    ...     recall.learn(page, ~yes, ~yes, half, half)
    >>> recall.learn(page + 1, ~yes, yes, half, half)
    >>> recall.of(np.array([0, 1])).round(2)
    array([0.91, 0.  ])
    """

    def __init__(self, sites: int) -> None:
        self.heard, self.missed, self.listened, self.looked = (np.zeros(sites) for _ in range(4))

    @property
    def any(self) -> bool:
        """Whether a change was ever announced."""
        return bool(self.heard.any())

    def of(self, site: Ints) -> Floats:
        """Return the part of its changes that each site announces, rho, shape (n,); 0 before it ever did."""
        found = usual(self.heard, self.missed, self.listened, self.looked)
        return part(found, self.heard[site], self.missed[site], self.listened[site], self.looked[site])

    def learn(
        self, site: Ints, told: NDArray[np.bool_], changed: NDArray[np.bool_], listened: Floats, looked: Floats
    ) -> None:
        """Take in what visits found, shape (n,) each.

        Parameters
        ----------
        site
            Of each page.
        told, changed
            Whether a change was announced since the visit before, and whether one was found.
        listened, looked
            As `listening` has it until something was announced, or until the visit; and as `looking` has it.
        """
        np.add.at(self.heard, site[told & changed], 1.0)
        np.add.at(self.missed, site[changed & ~told], 1.0)
        np.add.at(self.listened, site, listened)
        np.add.at(self.looked, site[~told], looked[~told])


def usual(heard: Floats, missed: Floats, listened: Floats, looked: Floats) -> UsualAnnouncing:
    """Return what is usual, by what `Recall` keeps of sites; of those that never announced a change nothing counts."""
    some = heard > 0
    announced = heard[some].sum() / (listened[some].sum() + 1.0)
    return UsualAnnouncing(float(announced), float((missed[some].sum() + 1.0) / (looked[some].sum() + 1.0)))


def part(usual: UsualAnnouncing, heard: Floats, missed: Floats, listened: Floats, looked: Floats) -> Floats:
    """Return the part of its changes that a site announces, rho, shape (n,), by what `Recall` keeps of it.

    Of a site that never announced one it is 0; of others of which little is known it is near what is usual.

    >>> half, few, many = UsualAnnouncing(0.5, 0.5), np.array([0.0, 1.0]), np.array([0.0, 900.0])
    >>> part(half, few, few, few, few).round(2), part(half, many, many / 9, many, many).round(2)
    (array([0. , 0.5]), array([0. , 0.9]))
    """
    announced = (heard + _FEW * usual.announced) / (listened + _FEW)
    silent = (missed + _FEW * usual.silent) / (looked + _FEW)
    return np.where(heard > 0, np.minimum(announced / np.maximum(announced + silent, _LITTLE), _MOST), 0.0)


def listening(shape: Floats, scale_s: Floats, passed_s: Floats, recall: Floats) -> Floats:
    """Return how many changes were to be expected of pages while nothing was heard of them, shape (n,).

    That is the integral of the mean rate, as it was believed moment by moment: (a / rho) ln(1 + rho t / b). The part
    rho of it is how many announcements were to be expected, whenever one ended the wait.

    >>> one = np.ones(1)
    >>> listening(one, one, 2 * one, 0 * one), listening(one, one, 2 * one, one).round(3)
    (array([2.]), array([1.099]))
    """
    rho = np.maximum(recall, _LITTLE)
    return shape / rho * np.log1p(rho * passed_s / scale_s)


def looking(shape: Floats, scale_s: Floats, passed_s: Floats, recall: Floats) -> Floats:
    """Return how many changes were to be found by visits of pages of which nothing was said, shape (n,).

    A visit finds one however many there were: with probability D = 1 - ((b + rho t) / (b + t))^a. Returned is
    D / (1 - rho), of which the part 1 - rho was to be found.

    >>> one = np.ones(1)
    >>> looking(one, one, one, 0 * one), looking(one, one, one / 1000, one / 2).round(5)
    (array([0.5]), array([0.001]))
    """
    silent = np.maximum(1.0 - recall, _LITTLE)
    return -np.expm1(shape * np.log1p(-silent * passed_s / (scale_s + passed_s))) / silent
