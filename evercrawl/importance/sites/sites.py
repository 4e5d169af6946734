"""Importance of sites, from the links between them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Floats, Ints

TEMPLATE: Final = 0.5
"""Least part of a site's pages with a link for which the link counts as part of a template, such as a footer."""

TEMPLATE_PAGES: Final = 4
"""Least number of pages of a site for which templates are recognised."""

STEPS: Final = 10_000
"""Maximum number of iterations."""
_CHANGE: Final = 1e-14


class SiteLinks(NamedTuple):
    """Links between sites 0 to sites - 1, each pair of sites at most once, and none within a site.

    Attributes
    ----------
    sites
        Number of sites.
    source, target
        Source and target of each link, shape (links,).
    pages
        Number of pages of `source` that link to some page of `target`, shape (links,).
    read
        Number of pages of each site whose links are known, shape (sites,); None if that was not counted.
    """

    sites: int
    source: Ints
    target: Ints
    pages: Ints
    read: Ints | None = None

    @classmethod
    def of(cls, sites: int, source: Ints, target: Ints, read: Ints | None = None) -> SiteLinks:
        """Return the links between sites from one pair per page and site linked to; links within a site are dropped.

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
        """The number of sites that link to each site, shape (sites,)."""
        return np.bincount(self.target, minlength=self.sites).astype(np.int64)

    @property
    def weight(self) -> Floats:
        """The weight of each link, shape (links,): it grows with the logarithm of the number of linking pages.

        A thousand pages are not a thousand independent opinions. A link on half of all pages of its site or more is
        part of the site's template, so it weighs as much as one page.

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
    """Return the importance of each site, shape (sites,); it sums to 1, or is all 0 if no site has a source.

    As for pages, x = bias + xM up to a factor: a site gives 1 - tax of its value to the sites that it links to, in
    proportion to the weights, and the rest to a virtual page. A site without links to others gives it everything.

    Parameters
    ----------
    links
        Links between the sites.
    bias
        Source of each site, shape (sites,), in any unit; by default the same for all. With a source for trusted sites
        only, the result is TrustRank.
    weight
        Weight of each link, shape (links,); by default `links.weight`.
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
        # the virtual page spends all its cash: this has the direction of x = bias + xM, where the sum of x would have
        # to converge as well, by 1 - tax per step, which takes longer than the direction does
        found, before = got + source * (1 - got.sum()), found
        if np.abs(found - before).sum() <= _CHANGE:
            break
    importance: Floats = found / found.sum()
    return importance


def within_sites(importance: Floats, site: Ints, site_importance: Floats) -> Floats:
    """Return the importance of pages ranked first by site and then within each site; shape (pages,).

    It is the site's importance times the page's share of the importance of its site's pages, and sums to the
    importance of the sites that have pages. If no page of a site has any importance, its pages share equally.

    Parameters
    ----------
    importance, site
        Importance of each page, and the number of its site, shape (pages,).
    site_importance
        Importance of each site, shape (sites,).

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
