"""Link farms: groups of sites whose importance comes almost only from each other's links.

The owner of a hundred sites has a hundred sources of importance, and links can lead all of it to one of them, and back
again. This shows in where importance comes from. A link to a site counts here if it brings at least half of what a link
to that site brings on average; sites that such links lead from and back to are a *closed group*. It is suspected if

* at least nine tenths of what its links bring comes from within the group;
* far fewer of its owners are linked to from outside than is usual in this crawl;
* and one of its sites has at least twice the importance that it would have without the group's own links.

All of this is also true of a circle of friends, or of the many domains of one company. So a group must have at least
`LEAST` owners, and the crawl three times as many sites: most farms are larger, and most circles have outside links.
Sites that all link to one site which does not link back are no group; they are worth as much as their sources.

References
----------
Wu, Davison (2005). Identifying link farm spam pages, section 3: sites that link to those that link to them.
Gyongyi, Berkhin, Garcia-Molina, Pedersen (2006). Link spam detection based on mass estimation, section 3: what part of
a page's PageRank comes from where.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.importance.sites.cycles import cycles
from evercrawl.importance.sites.sites import SiteLinks, site_importance
from evercrawl.types import Floats, Ints

LEAST: Final = 8
"""Least number of owners of a group: a family of names (`a.de`, `a.fr`) is one owner, see `suspected_farms`."""
OTHERS: Final = 2
"""Least number of sites outside the group for each site of the group: otherwise there is nothing to compare with."""
WITHIN: Final = 0.9
"""Least part of what links bring to a group that comes from within."""
ALONE: Final = 0.8
"""Least part of a group's owners to whom nobody outside links."""
CHANCE: Final = 1e-3
"""Greatest probability that as many owners would have no outside links if they were like others; over all groups."""
GAIN: Final = 2.0
"""Least ratio of the best site's importance to its importance without the group's own links."""
_WEAK: Final = 0.5  # of the mean over a site's links: a link that brings less keeps no site in a group


class Farm(NamedTuple):
    """A suspected group of sites.

    Attributes
    ----------
    sites
        Numbers of its members, the most important first; shape (k,).
    within
        Part of what links bring to the group that comes from within.
    alone
        Part of the group's owners to whom nobody outside links.
    usual
        The same part for all other sites.
    mutual
        Part of the links within the group that are reciprocated.
    gain
        Ratio of the first member's importance to its importance without the group's own links.
    importance
        Total importance of the group, as a share of all sites' importance.
    """

    sites: Ints
    within: float
    alone: float
    usual: float
    mutual: float
    gain: float
    importance: float


def suspected_farms(
    links: SiteLinks, source: Floats, owner: Ints, tax: float = 0.15, seeded: NDArray[np.bool_] | None = None
) -> list[Farm]:
    """Return the groups of sites that look like link farms, the most important first.

    Parameters
    ----------
    links
        Links between the sites.
    source
        Source of each site, shape (sites,); 0 for a site of which nothing was read.
    owner
        Number of the owner of each site, shape (sites,); the same for sites that plainly belong together.
    tax
        tau: the part that goes to the virtual page.
    seeded
        Whether each site was a seed of the crawl, shape (sites,). A group with more than half of the seeds is the
        standard that others are compared with, however many sites those have; no other group is known to be honest.

    Examples
    --------
    Nine sites that link to a tenth, which links back, beside a ring of thirty that link to the next two each; the first
    of these links to the tenth as well:

    >>> ring = np.arange(30)
    >>> source = np.concatenate([ring, ring, np.arange(30, 39), np.full(9, 39), [0]])
    >>> target = np.concatenate([(ring + 1) % 30, (ring + 2) % 30, np.full(9, 39), np.arange(30, 39), [39]])
    >>> from evercrawl.importance.sites.sites import SiteLinks
    >>> farm, = suspected_farms(SiteLinks.of(40, source, target), np.ones(40), np.arange(40))
    >>> farm.sites.tolist()
    [39, 30, 31, 32, 33, 34, 35, 36, 37, 38]
    >>> round(farm.within, 2), farm.alone, farm.usual, farm.mutual, round(farm.gain, 1)
    (0.97, 0.9, 0.0, 1.0, 13.2)
    """
    if not source.sum() > 0:
        return []
    web, found = _Web.of(links, source, owner, tax, seeded), list[Farm]()
    for mutual in (False, True):
        for farm in web.farms(closed_groups(links, web.flow, mutual=mutual)):
            if not any(np.isin(farm.sites, other.sites).any() for other in found):
                found.append(farm)
    return sorted(found, key=lambda farm: -farm.importance)


def closed_groups(links: SiteLinks, flow: Floats, *, mutual: bool = False) -> Ints:
    """Return the number of the closed group of each site, shape (sites,): that of its last member.

    A link counts if it brings its target at least half of what a link to that target brings on average. A farm whose
    lesser members have links from outside would then share its group with the whole web; `mutual` therefore leaves out
    links that are not reciprocated.

    Parameters
    ----------
    links, flow
        Links between sites, and what each brings; shape (links,).
    mutual
        Whether a link counts only if there is a link back.
    """
    linking = np.maximum(links.linking, 1)
    mean = np.bincount(links.target, flow, links.sites) / linking
    kept = flow >= _WEAK * mean[links.target]
    if mutual:
        kept &= _returned(links)
    return cycles(links.sites, links.source[kept], links.target[kept])


class _Web(NamedTuple):
    """Sites and links, with the importance of each site, shape (sites,), and the flow of each link, shape (links,)."""

    links: SiteLinks
    source: Floats
    owner: Ints
    tax: float
    importance: Floats
    flow: Floats
    seeded: NDArray[np.bool_]

    @classmethod
    def of(
        cls, links: SiteLinks, source: Floats, owner: Ints, tax: float, seeded: NDArray[np.bool_] | None = None
    ) -> _Web:
        importance = site_importance(links, source, tax=tax)
        given = np.bincount(links.source, links.weight, links.sites)
        flow: Floats = (1 - tax) * importance[links.source] * links.weight / given[links.source]
        return cls(
            links, source, owner, tax, importance, flow, np.zeros(links.sites, np.bool_) if seeded is None else seeded
        )

    def farms(self, group: Ints) -> Iterator[Farm]:
        """Yield the suspected groups; `group` is the number of each site's group, shape (sites,)."""
        links, sizes = self.links, np.bincount(group, minlength=self.links.sites)
        begun = np.bincount(group[self.seeded], minlength=self.links.sites)
        small = (sizes * (1 + OTHERS) <= np.count_nonzero(self.source)) & (2 * begun <= max(int(begun.sum()), 1))
        apart = (group[links.source] != group[links.target]) | ~small[group[links.target]]
        alone = np.bincount(links.target[apart], minlength=links.sites) == 0
        examined: list[int] = np.flatnonzero(small & (sizes >= LEAST)).tolist()
        for number in examined:
            farm = self._examined(group == number, alone, CHANCE / len(examined))
            if farm is not None:
                yield farm

    def _examined(self, members: NDArray[np.bool_], alone: NDArray[np.bool_], chance: float) -> Farm | None:
        """Return the figures of a closed group if it is suspicious, else None.

        `alone` is whether nobody outside its group links to a site, or, for large groups, nobody at all.
        """
        owners = len(np.unique(self.owner[members]))
        known = len(np.unique(self.owner[members & ~alone]))
        if owners < LEAST or known > (1 - ALONE) * owners:
            return None
        into = members[self.links.target]
        inside = into & members[self.links.source]
        within = float(self.flow[inside].sum() / self.flow[into].sum())
        usual = float(np.mean(alone[~members & (self.source > 0)]))
        if within < WITHIN or _at_most(known, owners, 1 - usual) > chance:
            return None
        order = np.flatnonzero(members)[np.argsort(-self.importance[members], kind="stable")]
        gain, mutual = self._gain(inside, int(order[0])), float(_returned(self.links)[inside].mean())
        share = float(self.importance[members].sum())
        return Farm(order, within, 1 - known / owners, usual, mutual, gain, share) if gain >= GAIN else None

    def _gain(self, inside: NDArray[np.bool_], best: int) -> float:
        """Return the ratio of a site's importance to its importance without the links inside the group."""
        links, left = self.links, ~inside
        fewer = links._replace(source=links.source[left], target=links.target[left], pages=links.pages[left])
        without = site_importance(fewer, self.source, tax=self.tax)
        has = float(self.importance[best]) * self._total(links, self.importance)
        return has / max(float(without[best]) * self._total(fewer, without), 1e-300)

    def _total(self, links: SiteLinks, importance: Floats) -> float:
        """Return the sum of importance before it was made 1, in the unit of the sources: they are all that comes in."""
        passed = float(importance[np.unique(links.source)].sum())
        return float(self.source.sum()) / (1 - (1 - self.tax) * passed)


def _returned(links: SiteLinks) -> NDArray[np.bool_]:
    """Return whether each link is reciprocated, shape (links,)."""
    return np.isin(
        links.target * links.sites + links.source, links.source * links.sites + links.target, assume_unique=True
    )


def _at_most(count: int, of: int, part: float) -> float:
    """Return the probability of at most `count` successes in `of` trials, each with the probability `part`."""
    if count == of or not 0.0 < part < 1.0:
        return float(count == of or part <= 0.0)
    odds = [
        math.lgamma(of + 1) - math.lgamma(i + 1) - math.lgamma(of - i + 1) + i * math.log(part)
        + (of - i) * math.log1p(-part)
        for i in range(count + 1)
    ]  # fmt: skip
    return math.fsum(map(math.exp, odds))
