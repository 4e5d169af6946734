"""What a page is worth to a collection, by the crawler of Chile: V = q^a r^b p^c.

q is what the page is worth in itself, r how well the collection represents it, p the probability that what is held is
still so. That V is a product, that q is a weighted sum of scores (of links, of depth, of pages that nobody generates),
and that pages are ranked by what a visit adds to V, is how the crawler's source has it. Queries, clicks, the length of
URLs, and r by bytes, are in the survey without formulas; those here are ours.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from evercrawl.schedule.pages import Facts, Pages
from evercrawl.types import Floats

DEEPEST: Final = 15.0
"""Links from a seed from which on depth makes no difference any more; the crawler's own default."""
LONGEST_BYTES: Final = 256.0
"""Of a URL, from which on its length makes none."""
SHOWN: Final = 0.1
"""What it counts that a page was shown in an answer, where being followed from there counts 1."""
URL, ANCHORS, INDEX, ABSTRACT, TEXT = (0.05, 64.0), (0.10, 128.0), (0.30, 4096.0), (0.05, 64.0), (0.50, 4096.0)
"""Of what may be held of a page: which part of it all it is, and how many bytes are the whole of it."""
_BROUGHT: Final = ("index_bytes", "abstract_bytes", "text_bytes")  # by reading a page
_MOST: Final = 1e25  # of q: the tenth power of it is a number


@dataclass(frozen=True, slots=True)
class UsualScores:
    """What is usual among the pages that were read: means, by which scores of single pages are measured.

    Attributes
    ----------
    importance, used
        Of pages.
    index_bytes, abstract_bytes, text_bytes
        What reading a page brings.
    """

    importance: float = 1.0
    used: float = 0.0
    index_bytes: float = INDEX[1]
    abstract_bytes: float = ABSTRACT[1]
    text_bytes: float = TEXT[1]


def usual(pages: Pages) -> UsualScores:
    """Return what is usual among `pages`, all of which were read."""
    importance, used = float(pages.importance.mean()), float(uses(pages).mean())
    importance = importance if importance > 0 else 1.0
    if pages.facts is None:
        return UsualScores(importance, used)
    return UsualScores(importance, used, *(float(getattr(pages.facts, name).mean()) for name in _BROUGHT))


def uses(pages: Pages) -> Floats:
    """Return how much people use pages, shape (n,): once for each time one was followed, a tenth for each it was shown.

    Where nobody counts it is 0.
    """
    shown = pages.retrieved if pages.retrieved is not None else np.zeros(len(pages.slot))
    return shown * SHOWN + (pages.clicked if pages.clicked is not None else 0.0)


def look(facts: Facts) -> Floats:
    """Return how promising URLs look, from 0 to 1: shallow, short, of a page that was written; 0 where none is known.

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

    Links and visits count 1 where they are usual, queries and the URL's look 1 where they could not be better.
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
    """Return r, shape (n,), from 0 to 1: which part of what may be held of a page is held.

    Examples
    --------
    Of a page that was never read there are the URL and what links say; a long text is the whole of it; a copy of
    another page is not in the index, and may have no title.

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

    A page that was never read is expected to bring a usual text, any other what it brought before. Where nobody knows
    bytes, not even those of the URL, what was read is held whole, and of other pages nothing is.
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
