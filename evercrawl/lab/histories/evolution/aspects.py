"""Changes by aspect of a page (content, structure, presentation), and topic drift.

A page's topic is that of its folder: the words that the first versions of the other pages of the folder have, each the
more the fewer pages have it. Drift is how much less the words of its last version have of that than those of its first.

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
"""Of what a page had of its topic at first, below which it has drifted from it."""


class PageAspects(NamedTuple):
    """What versions of a page show, in their order.

    Attributes
    ----------
    versions
        Digests of each.
    first, last
        The words of the first and of the last.
    """

    versions: list[Aspects]
    first: frozenset[str]
    last: frozenset[str]


class AspectChanges(NamedTuple):
    """Which aspects of some pages changed; nan where nothing is known.

    Attributes
    ----------
    aspect_pages, aspect_changes
        Pages of which two versions or more are at hand, and how often one of these became another in any aspect.
    content_changed, structure_changed, presentation_changed
        In which share of those the words became others, the elements and where they lead, and how they look.
    presentation_alone
        In which share nothing but the look did.
    topic_first, topic_last
        How alike the words of a page are to those of its folder's other pages as these were first (the cosine, the mean
        over pages), in its first version and in its last.
    drifted
        Share of the pages whose last version has less than half of what the first had in common with the folder.
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
    """Return which aspects of pages changed, every change counting alike, and how pages drift.

    Parameters
    ----------
    pages, folders
        By a page's place; the folder of each.
    """
    before = [(old, new) for page in pages.values() for old, new in zip(page.versions, page.versions[1:], strict=False)]
    changes = [tuple(a != b for a, b in zip(old, new, strict=True)) for old, new in before if old != new]
    content, structure, look = (_mean([float(change[aspect]) for change in changes]) for aspect in range(3))
    alone = _mean([float(change == (False, False, True)) for change in changes])
    first, last, drifted = drift(pages, folders)
    return AspectChanges(len(pages), len(changes), content, structure, look, alone, first, last, drifted)


def drift(pages: Mapping[int, PageAspects], folders: Mapping[int, int]) -> tuple[float, float, float]:
    """Return how alike pages are to their folders at first, and at last, and which share has drifted.

    Examples
    --------
    Of three pages on tea one comes to be about shoes:

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
    """Return the cosine of words and a folder's other pages: the folder less a page's own words, of length `others`."""
    along = math.fsum((folder.get(word, 0) - (word in own)) * weight[word] ** 2 for word in words)
    length = math.sqrt(math.fsum(weight[word] ** 2 for word in words)) * others
    return along / length if length > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
