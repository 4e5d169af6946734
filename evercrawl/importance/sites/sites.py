"""Sites: how much each matters, from the links between them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Floats, Ints

TEMPLATE: Final = 0.5
"""Part of its source's pages from which on a link is taken to be part of their template, a footer for example."""

TEMPLATE_PAGES: Final = 4
"""Pages of a site from which on it is told what their template is."""

STEPS: Final = 10_000
"""Steps at most."""
_CHANGE: Final = 1e-14


class SiteLinks(NamedTuple):
    """Links between sites 0 to sites - 1, each pair of sites at most once, and none within a site.

    Attributes
    ----------
    sites
        How many there are.
    source, target
        Of each link, shape (links,).
    pages
        How many pages of `source` link to some page of `target`, shape (links,).
    read
        Of how many pages of each site the links are known, shape (sites,); None where nobody counted.
    """

    sites: int
    source: Ints
    target: Ints
    pages: Ints
    read: Ints | None = None

    @classmethod
    def of(cls, sites: int, source: Ints, target: Ints, read: Ints | None = None) -> SiteLinks:
        """Return the links of which each page that links from site to site is one pair; links within a site are left.

        Examples
        --------
        Two pages of site 0 link to site 1, and one of them to its own site too:

        >>> SiteLinks.of(2, np.array([0, 0, 0]), np.array([1, 1, 0]))
        SiteLinks(sites=2, source=array([0]), target=array([1]), pages=array([2]), read=None)
        """
        away = source != target
        pairs, pages = np.unique(source[away].astype(np.int64) * sites + target[away], return_counts=True)
        return cls(sites, *np.divmod(pairs, max(sites, 1)), pages.astype(np.int64), read)

    @property
    def linking(self) -> Ints:
        """How many sites link to each, shape (sites,)."""
        return np.bincount(self.target, minlength=self.sites).astype(np.int64)

    @property
    def weight(self) -> Floats:
        """What each link weighs, shape (links,): the logarithm of the pages that stand behind it.

        A thousand pages are not a thousand opinions. A link that is on half of all pages of its site or more is one:
        somebody put it in their template, so it weighs as much as one page does.

        >>> SiteLinks(2, np.array([0]), np.array([1]), np.array([3])).weight
        array([2.])
        >>> SiteLinks(2, np.array([0]), np.array([1]), np.array([30]), read=np.array([40, 1])).weight
        array([1.])
        """
        weight: Floats = np.log2(1.0 + self.pages)
        if self.read is not None:
            of = self.read[self.source]
            weight[(self.pages >= TEMPLATE * of) & (of >= TEMPLATE_PAGES)] = 1.0
        return weight


def site_importance(
    links: SiteLinks, bias: Floats | None = None, weight: Floats | None = None, tax: float = 0.15
) -> Floats:
    """Return how much each site matters, shape (sites,); it sums to 1, or is all 0 where no site has a source.

    As for pages: x = bias + xM up to a factor, where a site gives 1 - tax of what it has to the sites it links to, in
    proportion to the weights, and all else to a virtual page. A site that links to no other gives it all.

    Parameters
    ----------
    links
        Between the sites.
    bias
        What each site has of its own, shape (sites,), in any unit: the same for all unless it is told. With a source
        for trusted sites alone this is their TrustRank.
    weight
        Of each link, shape (links,); by default `links.weight`.
    tax
        tau: the part that goes to the virtual page.

    Examples
    --------
    Three sites, of which the first and the second link to the third:

    >>> star = SiteLinks.of(3, np.array([0, 1]), np.array([2, 2]))
    >>> site_importance(star, tax=0.5)
    array([0.25, 0.25, 0.5 ])
    >>> site_importance(star, np.array([1.0, 0.0, 0.0]), tax=0.5)
    array([0.6667, 0.    , 0.3333])

    References
    ----------
    Abiteboul, Cobena, Masanes, Sedrati (2002). A first experience in archiving the French web, section 4: importance of
    sites from links between sites. Gyongyi, Garcia-Molina, Pedersen (2004). Combating web spam with TrustRank.
    """
    source: Floats = np.ones(links.sites) if bias is None else np.asarray(bias, np.float64)
    if not source.sum() > 0:
        return np.zeros(links.sites)
    weight = links.weight if weight is None else weight
    given = np.bincount(links.source, weight, links.sites)
    each = (1 - tax) * weight / given[links.source]
    found = source = source / source.sum()
    for _ in range(STEPS):
        got = np.bincount(links.target, found[links.source] * each, links.sites)
        # the virtual page spends all it gets: the direction is that of x = bias + xM, but there how much x is in all
        # would have to settle as well, by 1 - tax a step, which takes longer than what goes where
        found, before = got + source * (1 - got.sum()), found
        if np.abs(found - before).sum() <= _CHANGE:
            break
    importance: Floats = found / found.sum()
    return importance


def within_sites(importance: Floats, site: Ints, site_importance: Floats) -> Floats:
    """Return the importance of pages where first sites are compared and then the pages of each; shape (pages,).

    That is the site's importance times the page's share of what the pages of its site have. It sums to what the sites
    with pages have; where no page of a site has anything, all are alike.

    Parameters
    ----------
    importance, site
        Of each page, and the number of its site, shape (pages,).
    site_importance
        Of each site, shape (sites,).

    Examples
    --------
    A large site of little importance, and a small one that matters:

    >>> within_sites(np.array([3.0, 1.0, 1.0]), np.array([0, 0, 1]), np.array([0.2, 0.8]))
    array([0.15, 0.05, 0.8 ])
    """
    count = len(site_importance)
    of_site = np.bincount(site, importance, count)
    pages = np.maximum(np.bincount(site, minlength=count), 1)
    share = np.where(of_site[site] > 0, importance / np.where(of_site > 0, of_site, 1.0)[site], 1 / pages[site])
    found: Floats = site_importance[site] * share
    return found
