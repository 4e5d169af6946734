"""Spikes of in- and out-degrees: generated pages share exactly the same numbers of links.

The pages of an ordinary site have many different in- and out-degrees. If hundreds of pages share both degrees exactly,
and no other site has many pages with that out-degree, a program generated them for the sake of the links. A menu makes
degrees alike too, so pages that half of their site links to are not counted.

References
----------
Fetterly, Manasse, Najork (2004). Spam, damn spam, and statistics: using statistical analysis to locate spam web pages,
sections 4.4 and 4.5: the outliers among in- and out-degrees were spam.
"""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Ints

PAGES: Final = 200
"""Least number of pages of a site that share both degrees."""
PART: Final = 0.9
"""Least part of a site's pages that share both degrees."""
LINKS: Final = 10
"""Least out-degree of each of them: pages with few links are alike by chance."""
SPIKE: Final = 10.0
"""Least ratio of their number to the mean number of pages of all other sites with about the same out-degree."""
_ABOUT: Final = 3  # links more, or less


class Spike(NamedTuple):
    """A site whose pages share the same degrees.

    Attributes
    ----------
    site
        Number of the site.
    out, into
        Out-degree and in-degree of each of the pages.
    pages, part
        Number of these pages, and their part of the site's pages.
    usual
        Mean number of pages of all other sites at about the same out-degree.
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
        Site, out-degree and in-degree of each page that was read; shape (pages,).

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
