"""Degrees that too many pages share: pages that are turned out by a program have all the same links.

The pages of a site have all kinds of numbers of links, and of links to them. Where hundreds have exactly the same of
both, and no other site has many pages with that number of links, a program made them for the sake of the links. A menu
makes numbers alike too; so pages do not count that half of their site link to.

References
----------
Fetterly, Manasse, Najork (2004). Spam, damn spam, and statistics: using statistical analysis to locate spam web pages,
sections 4.4 and 4.5: the outliers among in- and out-degrees were spam.
"""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Ints

PAGES: Final = 200
"""Pages of a site that have to share both degrees."""
PART: Final = 0.9
"""Part of its pages that have to."""
LINKS: Final = 10
"""Links that each of them has, at least: pages of few links are alike by chance."""
SPIKE: Final = 10.0
"""Times as many pages as all other sites together have, on the mean, with about as many links."""
_ABOUT: Final = 3  # links more, or less


class Spike(NamedTuple):
    """A site whose pages are alike.

    Attributes
    ----------
    site
        Its number.
    out, into
        Links of each of the pages, and pages that link to each.
    pages, part
        How many there are, and what part of the site's pages that is.
    usual
        Pages of all other sites that have so many links: the mean over about as many.
    """

    site: int
    out: int
    into: int
    pages: int
    part: float
    usual: float


def spikes(site: Ints, out: Ints, into: Ints) -> list[Spike]:
    """Return the sites most of whose pages share both degrees exactly.

    Parameters
    ----------
    site, out, into
        Of each page that was read: its site, how many pages it links to, and how many link to it; shape (pages,).

    Examples
    --------
    Three hundred pages of site 1 with twelve links each, and three links to each, beside those of site 0:

    >>> draw = np.random.default_rng(1)
    >>> honest = draw.integers(1, 60, (2, 500))
    >>> site, out = np.repeat([0, 1], [500, 300]), np.concatenate([honest[0], np.full(300, 12)])
    >>> spike, = spikes(site, out, np.concatenate([honest[1], np.full(300, 3)]))
    >>> spike.site, spike.out, spike.into, spike.pages, spike.part, round(spike.usual)
    (1, 12, 3, 300, 1.0, 8)
    """
    rows = np.stack([site, out, into])
    found, count = np.unique(rows, axis=1, return_counts=True)
    of = np.bincount(site)
    many = (count >= PAGES) & (count >= PART * of[found[0]]) & (found[1] >= LINKS) & (2 * found[2] < of[found[0]])
    spiky: list[Spike] = []
    for (number, links, linking), pages in zip(found[:, many].T.tolist(), count[many].tolist(), strict=True):
        near = (site != number) & (np.abs(out - links) <= _ABOUT)
        usual = float(np.count_nonzero(near)) / (2 * _ABOUT + 1)
        if pages >= SPIKE * usual:
            spiky.append(Spike(number, links, linking, pages, pages / int(of[number]), usual))
    return spiky
