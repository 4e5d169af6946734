"""Changes by aspect of a page (content, structure, presentation), and topic drift.

A page's topic is that of its folder: the words of the first versions of the folder's other pages, weighted by inverse
document frequency. Drift is the loss of similarity to this topic from the page's first to its last version.

References
----------
Meng, Wang, Yan (2006), a survey of web evolution, on degrees of change: content, structure and presentation apart, and
pages that drift from the topic under which a directory lists them. Salton, Buckley (1988). Term-weighting approaches in
automatic text retrieval.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from evercrawl.parse.reading.aspects import Aspects

HALF: Final = 0.5
"""Share of the initial similarity to its topic below which a page has drifted."""


class PageAspects(NamedTuple):
    """The archived versions of a page, in order.

    Attributes
    ----------
    versions
        The digests of each version's aspects.
    first, last
        The words of the first and of the last version.
    """

    versions: list[Aspects]
    first: frozenset[str]
    last: frozenset[str]


class AspectChanges(NamedTuple):
    """Changes of pages by aspect; nan if unknown.

    Attributes
    ----------
    aspect_pages, aspect_changes
        Number of pages with two or more archived versions, and of their changes in any aspect.
    content_changed, structure_changed, presentation_changed
        Shares of these changes in which the words, the elements and link targets, or the appearance changed.
    presentation_alone
        Share of these changes in which only the appearance changed.
    topic_first, topic_last
        Mean cosine similarity of a page's words to the first versions of its folder's other pages, for its first and
        its last version.
    drifted
        Share of the pages whose last version has less than half of the first version's similarity to the folder.
    """

    aspect_pages: int
    aspect_changes: int
    content_changed: float
    structure_changed: float
    presentation_changed: float
    presentation_alone: float
    topic_first: float
    topic_last: float
    drifted: float


def aspect_changes(pages: Mapping[int, PageAspects], folders: Mapping[int, int]) -> AspectChanges:
    """Return the changes of pages by aspect, with equal weight for each change, and the drift of pages.

    Parameters
    ----------
    pages, folders
        The versions and the folder of each page, by the page's place.
    """
    before = [(old, new) for page in pages.values() for old, new in zip(page.versions, page.versions[1:], strict=False)]
    changes = [tuple(a != b for a, b in zip(old, new, strict=True)) for old, new in before if old != new]
    content, structure, look = (_mean([float(change[aspect]) for change in changes]) for aspect in range(3))
    alone = _mean([float(change == (False, False, True)) for change in changes])
    first, last, drifted = drift(pages, folders)
    return AspectChanges(len(pages), len(changes), content, structure, look, alone, first, last, drifted)


def drift(pages: Mapping[int, PageAspects], folders: Mapping[int, int]) -> tuple[float, float, float]:
    """Return the mean similarity of pages to their folders at first and at last, and the share that has drifted.

    Examples
    --------
    One of three pages on tea changes its topic to shoes:

    >>> tea, shoes = frozenset({"tea", "green", "cup"}), frozenset({"shoes", "red"})
    >>> pages = {i: PageAspects([], tea, shoes if i == 2 else tea) for i in range(3)}
    >>> pages[3] = PageAspects([], shoes, shoes)
    >>> [round(number, 2) for number in drift(pages, {0: 0, 1: 0, 2: 0, 3: 1})]
    [1.0, 0.67, 0.33]
    """
    known = Counter(word for page in pages.values() for word in page.first)
    rare = {word: math.log1p(len(pages) / count) for word, count in known.items()}
    new = {word: math.log1p(len(pages)) for page in pages.values() for word in page.last - known.keys()}
    weight = rare | new
    profile = dict[int, Counter[str]]()
    for place, page in pages.items():
        profile.setdefault(folders[place], Counter()).update(page.first)
    size = {
        folder: math.fsum((count * weight[word]) ** 2 for word, count in words.items())
        for folder, words in profile.items()
    }
    found = list[tuple[float, float]]()
    for place, page in pages.items():
        words, own = profile[folders[place]], page.first
        if own and words.total() > len(own):  # the folder has other pages, with words
            less = math.fsum((2 * words[word] - 1) * weight[word] ** 2 for word in own)
            others = math.sqrt(max(size[folders[place]] - less, 0.0))
            found.append((_alike(own, own, words, others, weight), _alike(page.last, own, words, others, weight)))
    first, last = (_mean([pair[k] for pair in found]) for k in (0, 1))
    return first, last, _mean([float(after < HALF * before) for before, after in found])


def _alike(
    words: frozenset[str], own: frozenset[str], folder: Mapping[str, int], others: float, weight: Mapping[str, float]
) -> float:
    """Return the cosine of words and a folder's other pages: the folder without the page itself, of norm `others`."""
    along = math.fsum((folder.get(word, 0) - (word in own)) * weight[word] ** 2 for word in words)
    length = math.sqrt(math.fsum(weight[word] ** 2 for word in words)) * others
    return along / length if length > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
