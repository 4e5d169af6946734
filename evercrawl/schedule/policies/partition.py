"""Partition: pages in few groups, one rate per group, so that the optimum is solved for few representatives."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.parameters import Annotated, bounded, choice, number
from evercrawl.schedule.shared.planned import PlannedRates
from evercrawl.types import Floats, Ints

_DAY_S: Final = 86_400.0
KEYS: Final = ("p", "lam", "p_over_lam", "pf")
"""Keys by which pages are sorted into groups: importance, rate of change, their quotient, or importance x freshness at
one visit rate for all pages."""


DISTANCES: Final = ("plain", "roots")
"""Distances of a page from a group's centre: on (p, lambda), as published, or on scaled square roots of these."""


class GroupRates(NamedTuple):
    """Pages in groups, and the optimal rates of their representatives.

    Attributes
    ----------
    label
        Group of each page, shape (n,).
    weight, lam
        Weight and rate of each group's representative: the means over its pages, shape (groups,).
    size
        Number of pages in each group.
    rate
        Visits per second of each page of a group, shape (groups,).
    """

    label: Ints
    weight: Floats
    lam: Floats
    size: Ints
    rate: Floats


class Partitioned(PlannedRates):
    """Sort pages into groups of equal size, solve for a representative of each, and visit its pages equally often.

    Parameters
    ----------
    grouping
        Key by which pages are sorted into groups: p, importance; lam, rate of change; p_over_lam, their quotient; or
        pf, importance x freshness if all pages were visited at the same rate.
    groups
        Maximum number of groups.
    steps
        Maximum number of times that pages move to the group with the nearest centre before the groups are solved; 0
        leaves them as they were sorted.
    distance
        Distance of a page from a centre: plain, the Euclidean distance on (p, lambda), as published, each divided by
        its mean over all pages, because the paper gives no units; or roots, the distance on their square roots divided
        by the standard deviations of these, so that the few pages with the highest importance or rate do not dominate.
    new_share, estimator, replan
        See `PlannedRates`.

    Examples
    --------
    >>> from evercrawl.schedule import Context, Pages
    >>> none, one, lam = np.zeros(4), np.ones(4), np.array([1.0, 4.0, 1.0, 4.0])
    >>> pages = Pages(np.arange(4, dtype=np.uint32), none, one, none, 1e9 * one, 4e9 / lam, one, none, none)
    >>> policy = Partitioned(grouping="lam", groups=2)
    >>> later = policy.plan(pages, 0, Context(0.0))
    >>> policy.rates(pages.slot).round(3)
    array([0.273, 0.227, 0.273, 0.227])

    References
    ----------
    Carney, Lee, Zdonik (2003). Scalable application-aware data freshening. Today the exact optimum of all pages can be
    solved as quickly (see `optimal`).
    """

    @bounded
    def __init__(
        self,
        grouping: Annotated[str, choice(*KEYS)] = "pf",
        groups: Annotated[int, number(1, 1000)] = 20,
        steps: Annotated[int, number(0, 1000)] = 30,
        new_share: float = 0.5,
        estimator: str = "typical",
        replan: float = 0.125,
        distance: Annotated[str, choice(*DISTANCES)] = "plain",
    ) -> None:
        super().__init__(new_share, estimator, replan)
        self.grouping = grouping
        self.groups = groups
        self.steps = steps
        self.distance = distance
        self._planned: GroupRates | None = None

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return for each page the rate of its group."""
        found = grouped(weight, lam, budget_per_s, self.grouping, self.groups, self.steps, self.distance)
        self._planned = found
        return found.rate[found.label]

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the plan, and the groups.

        Returns
        -------
        plan
            See `PlannedRates`.
        groups
            The groups of the last plan, if there was one.

            group : number
                Number of the group, from 0, in ascending order of the sorting key before pages moved.
            pages : pages
                Number of pages.
            importance : shares of importance, up to one factor
                Importance of its representative: the mean over its pages.
            changes_per_day : changes a day
                Rate of change of its representative: the mean over its pages.
            visits_per_day : visits a day
                Visits of each of its pages.
        """
        found = self._planned
        if found is None:
            return super().tables(context)
        groups = {
            "group": np.arange(len(found.size)), "pages": found.size, "importance": found.weight,
            "changes_per_day": found.lam * _DAY_S, "visits_per_day": found.rate * _DAY_S,
        }  # fmt: skip
        return {**super().tables(context), "groups": groups}


def grouped(
    weight: Floats, lam: Floats, budget: float, key: str, groups: int, steps: int = 0, distance: str = "plain"
) -> GroupRates:
    """Return groups of pages and their rates: the largest sum of T w F(f, lam) over groups of T pages, by Lagrange.

    Parameters
    ----------
    weight, lam
        Weight and rate of change of each page, shape (n,); at least one page has positive weight and rate.
    budget
        Visits per second.
    key, groups, steps, distance
        As for `Partitioned`.

    Examples
    --------
    >>> found = grouped(np.array([1.0, 9.0, 2.0, 8.0]), np.ones(4), 2.0, "p", 2)
    >>> found.label, found.weight, found.size
    (array([0, 1, 0, 1]), array([1.5, 8.5]), array([2, 2]))
    """
    label = sorted_into(keys(weight, lam, budget, key), groups)
    for _ in range(steps):
        moved = nearest(weight, lam, label, distance)
        if (moved == label).all():
            break
        label = moved
    _, label = np.unique(label, return_inverse=True)  # drop groups that have lost all their pages
    size = np.bincount(label)
    centre_w, centre_lam = (np.bincount(label, column) / size for column in (weight, lam))
    used = allocation.optimum(size * centre_w, size * centre_lam, budget).rate  # T w F(f, lam) = T w F(T f, T lam)
    return GroupRates(label, centre_w, centre_lam, size, used / size)


def keys(weight: Floats, lam: Floats, budget: float, key: str) -> Floats:
    """Return the sorting keys of pages, shape (n,).

    Examples
    --------
    >>> keys(np.array([1.0, 2.0]), np.array([2.0, 1.0]), 2.0, "p_over_lam")
    array([0.5, 2. ])
    """
    if key == "pf":
        return weight * allocation.freshness(budget / len(lam), lam)
    if key == "p_over_lam":
        return weight / np.maximum(lam, 1e-300)
    return weight if key == "p" else lam


def sorted_into(key: Floats, groups: int) -> Ints:
    """Return groups of equal size (the first ones may have one page more); 0 holds the smallest keys; shape (n,).

    Examples
    --------
    >>> sorted_into(np.array([5.0, 1.0, 3.0, 2.0, 4.0]), 2)
    array([1, 0, 0, 0, 1])
    """
    n = len(key)
    groups = min(groups, n)
    size, more = divmod(n, groups)
    label = np.empty(n, np.int64)
    label[np.argsort(key, kind="stable")] = np.repeat(np.arange(groups), size + (np.arange(groups) < more))
    return label


def nearest(weight: Floats, lam: Floats, label: Ints, distance: str) -> Ints:
    """Return for each page the group with the nearest centre, shape (n,).

    Examples
    --------
    Two unimportant pages, and one ten thousand times as important that shifts its group's centre:

    >>> weight, lam, label = np.array([1.0, 2.0, 10_000.0]), np.array([1.0, 5.0, 9.0]), np.array([0, 1, 1])
    >>> nearest(weight, lam, label, "plain"), nearest(weight, lam, label, "roots")
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    if distance == "plain":
        places = [column / max(float(column.mean()), 1e-300) for column in (weight, lam)]
    else:
        roots = [np.sqrt(column) for column in (weight, lam)]
        places = [root / (float(root.std()) if np.ptp(root) > 0 else 1.0) for root in roots]
    size = np.bincount(label)
    best, found = np.full(len(label), np.inf), np.zeros(len(label), np.int64)
    centres = [np.bincount(label, place) / np.maximum(size, 1) for place in places]
    for group in np.flatnonzero(size).tolist():
        far = (places[0] - centres[0][group]) ** 2 + (places[1] - centres[1][group]) ** 2
        nearer = far < best
        best, found = np.where(nearer, far, best), np.where(nearer, group, found)
    return found
