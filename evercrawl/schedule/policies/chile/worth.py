"""The value of a page to a collection, by the crawler of Chile: V = q^a r^b p^c.

q is the quality of the page, r how completely the collection represents it, and p the probability that the stored part
is still current. Three choices follow the crawler's source: V is a product; q is a weighted sum of scores (for links,
depth, and static pages); and pages are ranked by what a visit adds to V. The survey names queries, clicks, the length
of URLs, and r by bytes without formulas; the formulas here are ours.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from evercrawl.schedule.pages import Facts, Pages
from evercrawl.types import Floats

DEEPEST: Final = 15.0
"""Number of links from a seed beyond which depth makes no difference; the crawler's own default."""
LONGEST_BYTES: Final = 256.0
"""Length of a URL in bytes beyond which its length makes no difference."""
SHOWN: Final = 0.1
"""Weight of an appearance in search results, relative to a click."""
URL, ANCHORS, INDEX, ABSTRACT, TEXT = (0.05, 64.0), (0.10, 128.0), (0.30, 4096.0), (0.05, 64.0), (0.50, 4096.0)
"""For each stored part of a page: its share of r, and the number of bytes at which it is complete."""
_BROUGHT: Final = ("index_bytes", "abstract_bytes", "text_bytes")  # parts obtained by reading a page
_MOST: Final = 1e25  # maximum of q, so that its tenth power is finite


@dataclass(frozen=True, slots=True)
class UsualScores:
    """Means over the read pages, by which the scores of single pages are normalised.

    Attributes
    ----------
    importance, used
        Mean importance and use of pages.
    index_bytes, abstract_bytes, text_bytes
        Mean sizes of the parts obtained by reading a page.
    """

    importance: float = 1.0
    used: float = 0.0
    index_bytes: float = INDEX[1]
    abstract_bytes: float = ABSTRACT[1]
    text_bytes: float = TEXT[1]


def usual(pages: Pages) -> UsualScores:
    """Return the means over `pages`, all of which were read."""
    importance, used = float(pages.importance.mean()), float(uses(pages).mean())
    importance = importance if importance > 0 else 1.0
    if pages.facts is None:
        return UsualScores(importance, used)
    return UsualScores(importance, used, *(float(getattr(pages.facts, name).mean()) for name in _BROUGHT))


def uses(pages: Pages) -> Floats:
    """Return the use of pages by people, shape (n,): 1 for each click, a tenth for each appearance in results.

    It is 0 if use is not counted.
    """
    shown = pages.retrieved if pages.retrieved is not None else np.zeros(len(pages.slot))
    return shown * SHOWN + (pages.clicked if pages.clicked is not None else 0.0)


def look(facts: Facts) -> Floats:
    """Return the URL score, from 0 to 1: higher for shallow, short, static URLs; 0 for unknown URLs.

    Examples
    --------
    >>> from evercrawl.schedule.pages import Facts
    >>> depth, url_bytes, none = np.array([0.0, 15.0, 0.0]), np.array([64.0, 64.0, 0.0]), np.zeros(3)
    >>> look(Facts(depth, url_bytes, none, none, none, none, none, none)).round(3)
    array([0.917, 0.583, 0.   ])
    """
    shallow = np.maximum(1.0 - facts.depth / DEEPEST, 0.0)
    short = np.maximum(1.0 - facts.url_bytes / LONGEST_BYTES, 0.0)
    return np.where(facts.url_bytes > 0, (shallow + short + (1.0 - facts.dynamic)) / 3.0, 0.0)


def quality(pages: Pages, mean: UsualScores, links: float, queries: float, visits: float, url: float) -> Floats:
    """Return q, shape (n,): the sum of four scores, each times its weight.

    Links and visits have the score 1 at their mean; queries and the URL have the score 1 at their maximum.
    """
    score = links * pages.importance / mean.importance
    if mean.used > 0:
        score = score + visits * uses(pages) / mean.used
    if pages.facts is not None:
        score = score + queries * pages.facts.similarity + url * look(pages.facts)
    return np.clip(score, 0.0, _MOST)


def representation(
    url_bytes: Floats, anchor_bytes: Floats, index_bytes: Floats, abstract_bytes: Floats, text_bytes: Floats
) -> Floats:
    """Return r, shape (n,), from 0 to 1: the fraction of the storable parts of a page that is stored.

    Examples
    --------
    An unread page is represented by its URL and anchor texts; a long text is complete; a copy of another page is not in
    the index, and may have no title.

    >>> size, none = np.array([0.0, 2048.0, 9000.0]), np.zeros(3)
    >>> representation(np.full(3, 64.0), np.full(3, 64.0), size, size, size)
    array([0.1 , 0.55, 0.95])
    >>> representation(np.full(3, 64.0), np.full(3, 64.0), none, none, size)
    array([0.1 , 0.35, 0.6 ])
    """
    held = (
        (URL, url_bytes), (ANCHORS, anchor_bytes), (INDEX, index_bytes), (ABSTRACT, abstract_bytes), (TEXT, text_bytes)
    )  # fmt: skip
    total = np.zeros(len(url_bytes))
    for (part, whole), size in held:
        total += part * np.minimum(size / whole, 1.0)
    return total


def represented(pages: Pages, new: Floats, mean: UsualScores) -> tuple[Floats, Floats]:
    """Return r as it is, and as it will be after a visit, shape (n,) each.

    An unread page is expected to provide a text of mean size, any other page as much as before. If no sizes are known,
    not even those of URLs, read pages count as stored completely and other pages as not stored.
    """
    facts = pages.facts
    if facts is None:
        return np.where(new, 0.0, 1.0), np.ones(len(new))
    told = facts.url_bytes > 0
    outside = facts.url_bytes, facts.anchor_bytes
    held: list[Floats] = [getattr(facts, name) for name in _BROUGHT]
    usually: list[float] = [getattr(mean, name) for name in _BROUGHT]
    now = representation(*outside, *(np.where(new, 0.0, column) for column in held))
    then = representation(*outside, *(np.where(new, of, column) for of, column in zip(usually, held, strict=True)))
    return np.where(told, now, np.where(new, 0.0, 1.0)), np.where(told, then, 1.0)
