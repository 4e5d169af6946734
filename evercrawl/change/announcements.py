"""The fraction of its changes that a site announces in sitemaps and feeds, learned from visits.

Pages change at rates with a Gamma(a, b) posterior; a fraction rho of the changes is announced. For a page without an
announcement for t seconds the posterior is Gamma(a, b + rho t), because silence is evidence about the rate, too.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Floats, Ints

_MOST: Final = 0.98
"""Maximum of rho: the silence of pages that are visited only after announcements would remain unobserved."""
AT_FIRST: Final = 0.5
"""Prior of rho for a site whose first change was announced."""
_FEW: Final = 5.0  # weight of the mean over sites in the estimate for a site, in expected changes
_USUAL: Final = (0.1, 3.0)  # bounds of the means over sites, so that one site cannot cancel the announcements of others
_LITTLE: Final = 1e-9  # fraction that counts as zero


class UsualAnnouncing(NamedTuple):
    """Means over the sites that announce changes: announced and unannounced changes, relative to expected ones."""

    announced: float
    silent: float


class Recall:
    """Counts of announced and unannounced changes of each site, and of all sites; sites are numbered from 0.

    A visit that follows an announcement and finds a change counts as heard; one that finds a change without an
    announcement counts as missed. A crawl that follows announcements sees few of the unannounced changes, because they
    are found together with the next announced one. Therefore both counts are compared with expected counts:
    announcements with the time before each announcement, and changes with the time before visits without an
    announcement.

    Parameters
    ----------
    sites
        Number of sites; more can be added.

    Attributes
    ----------
    heard, missed
        Visits that found an announced change, and visits that found an unannounced change, shape (sites,).
    listened, looked
        Expected numbers of each if all changes had been announced, and if none had, shape (sites,); see `listening` and
        `looking`.

    Examples
    --------
    One site announced all nine changes, and its page was unchanged when nothing was announced; the other site announces
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
        """Return the fraction rho of its changes that each site announces, shape (n,); 0 before its first."""
        found = usual(self.heard, self.missed, self.listened, self.looked)
        return part(found, self.heard[site], self.missed[site], self.listened[site], self.looked[site])

    def learn(
        self, site: Ints, told: NDArray[np.bool_], changed: NDArray[np.bool_], listened: Floats, looked: Floats
    ) -> None:
        """Learn from visits; all arguments have shape (n,).

        Parameters
        ----------
        site
            Site of each page.
        told, changed
            Whether a change was announced since the previous visit, and whether one was found.
        listened, looked
            Results of `listening` for the time until the announcement or the visit, and of `looking`.
        """
        np.add.at(self.heard, site[told & changed], 1.0)
        np.add.at(self.missed, site[changed & ~told], 1.0)
        np.add.at(self.listened, site, listened)
        np.add.at(self.looked, site[~told], looked[~told])


def usual(heard: Floats, missed: Floats, listened: Floats, looked: Floats) -> UsualAnnouncing:
    """Return the bounded means over sites from the counts of `Recall`; sites that never announced are excluded."""
    some = heard > 0
    announced = heard[some].sum() / (listened[some].sum() + 1.0)
    silent = (missed[some].sum() + 1.0) / (looked[some].sum() + 1.0)
    return UsualAnnouncing(*(min(max(float(each), _USUAL[0]), _USUAL[1]) for each in (announced, silent)))


def part(usual: UsualAnnouncing, heard: Floats, missed: Floats, listened: Floats, looked: Floats) -> Floats:
    """Return the fraction rho of its changes that a site announces, shape (n,), from its counts in `Recall`.

    It is 0 for a site without announcements, and close to the mean over sites for one with few observations.

    >>> half, few, many = UsualAnnouncing(0.5, 0.5), np.array([0.0, 1.0]), np.array([0.0, 900.0])
    >>> part(half, few, few, few, few).round(2), part(half, many, many / 9, many, many).round(2)
    (array([0. , 0.5]), array([0. , 0.9]))
    """
    announced = (heard + _FEW * usual.announced) / (listened + _FEW)
    silent = (missed + _FEW * usual.silent) / (looked + _FEW)
    return np.where(heard > 0, np.minimum(announced / np.maximum(announced + silent, _LITTLE), _MOST), 0.0)


def listening(shape: Floats, scale_s: Floats, passed_s: Floats, recall: Floats) -> Floats:
    """Return the expected number of changes of pages during the time without an announcement, shape (n,).

    This is the integral of the posterior mean rate over time: (a / rho) ln(1 + rho t / b). The expected number of
    announcements is the fraction rho of it, whether or not one ended the wait.

    >>> one = np.ones(1)
    >>> listening(one, one, 2 * one, 0 * one), listening(one, one, 2 * one, one).round(3)
    (array([2.]), array([1.099]))
    """
    rho = np.maximum(recall, _LITTLE)
    return shape / rho * np.log1p(rho * passed_s / scale_s)


def looking(shape: Floats, scale_s: Floats, passed_s: Floats, recall: Floats) -> Floats:
    """Return the expected number of changes found by visits to pages without an announcement, shape (n,).

    A visit finds at most one change: with probability D = 1 - ((b + rho t) / (b + t))^a. The result is D / (1 - rho);
    the expected number found is the fraction 1 - rho of it.

    >>> one = np.ones(1)
    >>> looking(one, one, one, 0 * one), looking(one, one, one / 1000, one / 2).round(5)
    (array([0.5]), array([0.001]))
    """
    silent = np.maximum(1.0 - recall, _LITTLE)
    return -np.expm1(shape * np.log1p(-silent * passed_s / (scale_s + passed_s))) / silent
