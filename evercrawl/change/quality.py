"""The quality of a page, estimated from the growth of its popularity: quality is the limit of popularity.

Popularity P is the share of people who like the page: the share A who know it, times the fraction of these who like it,
the quality Q. Visitors of the page become people who know it. If P attracts visitors in proportion, P grows as
dP/dt = c P (Q - P), c = r v / n. If people come through a search engine that ranks by popularity, with visits as
P^(9/4), P grows as dP/dt = c P^(9/4) (Q - P), and a good new page waits for very long. Time is in the unit of 1 / c.

References
----------
Cho, Roy (2004). Impact of search engines on page popularity. Cho, Roy, Adams (2005). Page quality: in search of an
unbiased web ranking. Meng, Wang, Yan (2006), (18)-(23), whose (19) lost a sign and (21) its differences.
"""

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.types import Floats


def estimate(before: ArrayLike, after: ArrayLike, passed: ArrayLike, growth: ArrayLike) -> Floats:
    """Return the quality from two popularities, Q = (dP / dt) / (c P) + P with the second as P: (21), never below 0.

    Examples
    --------
    The popularity doubled within a unit of time:

    >>> estimate([0.01], 0.02, 1.0, 10.0)
    array([0.07])
    """
    p0, p1, t, c = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (before, after, passed, growth)))
    found = p1 + (p1 - p0) / (t * c * np.where(p1 > 0, p1, 1.0))
    return np.maximum(np.where(p1 > 0, found, 0.0), 0.0)
