"""The expected age of copies under a policy's prediction of changes."""

from dataclasses import replace
from typing import Final

import numpy as np

from evercrawl.schedule.abilities import p_fresh
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
PLACES: Final[Floats] = (_NODES + 1) / 2
"""Fractions of the time since the last visit at which the probability of freshness is evaluated."""


def expected_age_s(policy: Policy, pages: Pages, context: Context) -> Floats:
    """Return how long each page is expected to have differed from its copy, shape (n,); nan for unvisited pages.

    The age of a fresh copy is 0; otherwise it is the time since the first change that the copy misses. So the expected
    age is the integral of 1 - S(u) over the time u since the visit, where S is the probability that the copy is still
    fresh after u. It is evaluated at eight points by Gauss-Legendre quadrature.

    Examples
    --------
    With S(u) = 1 / (1 + u) the result is t - ln(1 + t):

    >>> from evercrawl.schedule import Context, Pages
    >>> from evercrawl.schedule.policies.uniform import Uniform
    >>> one, none = np.ones(1), np.zeros(1)
    >>> pages = Pages(np.zeros(1, np.uint32), none, one, none, one, one, one, none, none)
    >>> expected_age_s(Uniform(), pages, Context(3.0)).round(4).item(), round(3 - np.log(4).item(), 4)
    (1.6137, 1.6137)
    """
    alone_s = np.maximum(context.now - pages.visited_at, 0.0)
    stale = np.zeros(len(alone_s))
    for place, weight in zip(PLACES.tolist(), (_WEIGHTS / 2).tolist(), strict=True):
        then = replace(pages, visited_at=context.now - place * alone_s)
        stale += weight * (1 - p_fresh(policy, then, context))
    return alone_s * stale
